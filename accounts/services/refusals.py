from config.errors import DomainError


class Refused(DomainError):
    """Interim: goes once each case is an error of its own."""

from config.errors import DomainError, NotFound


class NoConnector(NotFound):
    """The organization has no such connector."""

    code = "no_connector"
    sentence = "There is no connector of this source_id in your organization."


class BadName(DomainError):
    """A name has 1 to 128 characters."""

    code, status = "bad_name", 422
    sentence = "The name of a connector has 1 to 128 characters."


class BadSchedule(DomainError):
    """A schedule is between half a minute and a day."""

    code, status = "bad_schedule", 422
    sentence = "schedule_seconds is between 30 and 86400."


class NotPolled(DomainError):
    """The connector is disabled, or its settings are wrong."""

    code = "not_polled"

from django.apps import AppConfig


class CustodyConfig(AppConfig):
    name = "custody"

    def ready(self) -> None:
        from accounts import back_office
        from config import health
        from custody import checks, keys, vaults  # noqa: F401 - importing checks registers them
        from custody.back_office import needs

        health.register("vault", vaults.probe)
        health.register("keys", keys.probe)
        back_office.register_needs(needs)

from django.apps import AppConfig


class CustodyConfig(AppConfig):
    name = "custody"

    def ready(self) -> None:
        from config import health
        from custody import checks, keys, vaults  # noqa: F401 - importing checks registers them

        health.register("vault", vaults.probe)
        health.register("keys", keys.probe)

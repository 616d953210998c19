from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "notices"

    def ready(self) -> None:
        from custody import kinds
        from notices import checks, services  # noqa: F401 - importing checks registers them

        kinds.register(services.KIND, services.index_row)

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "connectors"

    def ready(self) -> None:
        from accounts.back_office import register_needs, register_page
        from accounts.demo import register_step
        from connectors import back_office
        from connectors.demo import poll_export
        from connectors.models import Connector

        register_step(poll_export)
        register_needs(back_office.needs)
        register_page("connector", Connector, "source_id")

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "connectors"

    def ready(self) -> None:
        from accounts.back_office import register_needs, register_page
        from connectors import back_office
        from connectors.models import Connector

        register_needs(back_office.needs)
        register_page("connector", Connector, "source_id")

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "connectors"

    def ready(self) -> None:
        from accounts.back_office import register_needs, register_page
        from accounts.demo import register_step
        from config import health
        from connectors import aging, personal_data
        from connectors.back_office import start_page
        from connectors.back_office.record_sources import record_source
        from connectors.demo import poll_export
        from connectors.models import Connector
        from connectors.services import unserved
        from custody.disposal import age_sweeps
        from decisions.back_office import register_source

        personal_data.declare_all()
        for name, sweep in aging.SWEEPS.items():
            age_sweeps.register(name, sweep)
        health.register("connectors", unserved.require_none, required=False)
        health.register_list("connectors_unserved", unserved.source_ids)
        register_step(poll_export)
        register_needs(start_page.needs)
        register_page("connector", Connector, "source_id")
        register_source("connector", record_source)

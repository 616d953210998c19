from django.apps import AppConfig


class DecisionsConfig(AppConfig):
    name = "decisions"

    def ready(self) -> None:
        from accounts import back_office
        from custody import kinds
        from decisions import reconsiderations, records
        from decisions.back_office import charts

        kinds.register(records.KIND, records.index_row)
        kinds.register(reconsiderations.KIND, reconsiderations.index_row)
        back_office.register_charts(charts)

from django.apps import AppConfig


class DecisionsConfig(AppConfig):
    name = "decisions"

    def ready(self) -> None:
        from custody import kinds
        from decisions import reconsiderations, records

        kinds.register(records.KIND, records.index_row)
        kinds.register(reconsiderations.KIND, reconsiderations.index_row)

from django.apps import AppConfig


class DecisionsConfig(AppConfig):
    name = "decisions"

    def ready(self) -> None:
        from accounts import back_office
        from accounts.demo import register_step
        from custody import record_types
        from decisions import personal_data
        from decisions.back_office import charts
        from decisions.demo import take_samples
        from decisions.models import Decision
        from decisions.record_types import DECISION, RECONSIDERATION

        personal_data.declare_all()
        record_types.register(DECISION, RECONSIDERATION)
        register_step(take_samples)
        back_office.register_charts(charts)
        back_office.register_page("record", Decision)

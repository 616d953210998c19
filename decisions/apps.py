from django.apps import AppConfig


class DecisionsConfig(AppConfig):
    name = "decisions"

    def ready(self) -> None:
        from accounts import back_office
        from accounts.demo import register_step
        from custody import record_types
        from decisions import records, reviews
        from decisions.back_office import charts
        from decisions.demo import take_samples
        from decisions.models import Decision

        record_types.register(records.KIND, records.index_row, ids_of_callers=True)
        record_types.register(reviews.KIND, reviews.index_row, ids_of_callers=True)
        register_step(take_samples)
        back_office.register_charts(charts)
        back_office.register_page("record", Decision)
        for kind in (records.KIND, reviews.KIND):
            back_office.register_page(f"custody {kind}", Decision)

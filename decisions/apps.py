from django.apps import AppConfig


class DecisionsConfig(AppConfig):
    name = "decisions"

    def ready(self) -> None:
        from accounts import back_office
        from accounts.demo import register_step
        from config import row_guards
        from config.http import lanes
        from custody import record_types
        from custody.rows import signed_rows
        from decisions import personal_data
        from decisions.back_office import charts, flows
        from decisions.demo import ingest_samples
        from decisions.ingest_lane import PATH, IngestLane
        from decisions.mapping import drift
        from decisions.models import Decision, Mapping
        from decisions.record_types import DECISION, RECONSIDERATION
        from decisions.record_warnings import register_record_check

        personal_data.declare_all()
        row_guards.register(signed_rows.index_guard(Decision))
        record_types.register(DECISION, RECONSIDERATION)
        register_step(ingest_samples)
        back_office.register_flows(flows)
        back_office.register_charts(charts)
        back_office.register_page("record", Decision)
        back_office.register_page("mapping", Mapping)
        register_record_check(drift.warnings)
        lanes.register("POST", PATH, IngestLane)

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "notices"

    def ready(self) -> None:
        from accounts.back_office import register_charts, register_needs, register_page
        from accounts.demo import register_step
        from custody import record_types
        from decisions.back_office import register_decision_panel
        from notices import checks, personal_data  # noqa: F401 - importing checks registers them
        from notices.back_office import dashboard
        from notices.demo import draft_notices
        from notices.models import AuthorityGrant, Notice
        from notices.record_types import NOTICE

        personal_data.declare_all()
        record_types.register(NOTICE)
        register_step(draft_notices)
        register_needs(dashboard.needs)
        register_charts(dashboard.charts)
        register_decision_panel(dashboard.panel)
        register_page("notice", Notice)
        register_page("authority_grant", AuthorityGrant)

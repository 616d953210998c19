from django.apps import AppConfig


class RetentionConfig(AppConfig):
    name = "retention"

    def ready(self) -> None:
        from accounts.back_office import register_needs, register_page
        from config.change_triggers import watch
        from custody.disposal import age_sweeps
        from custody.vaults import lock_periods
        from decisions.back_office import register_decision_panel
        from retention import personal_data
        from retention.back_office import start_page
        from retention.models import Hold, Policy
        from retention.rules import newest_days
        from retention.services.holds import forget_lifted

        personal_data.declare_all()
        watch(Policy)
        lock_periods.register(newest_days)
        age_sweeps.register("lifted holds", forget_lifted)
        register_needs(start_page.needs)
        register_decision_panel(start_page.panel)
        register_page("hold", Hold, "number")

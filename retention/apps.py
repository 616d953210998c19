from django.apps import AppConfig


class RetentionConfig(AppConfig):
    name = "retention"

    def ready(self) -> None:
        from accounts.back_office import register_needs, register_page
        from custody import aged, retain
        from decisions.back_office import register_decision_panel
        from retention import aging, personal_data
        from retention.back_office import start_page
        from retention.models import Hold
        from retention.rules import newest_days

        personal_data.declare_all()
        retain.register(newest_days)
        for name, sweep in aging.SWEEPS.items():
            aged.register(name, sweep)
        register_needs(start_page.needs)
        register_decision_panel(start_page.panel)
        register_page("hold", Hold, "number")

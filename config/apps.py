from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class FrameConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import change_triggers, personal_data, planner_statistics, row_guards, triggers
        from config.models import ChangeMark

        random = "It is made from random bytes."
        personal_data.declare(
            ChangeMark, mark=personal_data.retained("which change of keys or storage came last", random)
        )
        triggers.register(change_triggers.PREFIX, change_triggers.triggers)
        triggers.register(row_guards.PREFIX, row_guards.triggers)
        pre_migrate.connect(triggers.before_migrate, sender=self)
        post_migrate.connect(triggers.install, sender=self)
        post_migrate.connect(planner_statistics.install, sender=self)

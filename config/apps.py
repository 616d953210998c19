from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class FrameConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import change_triggers, personal_data, row_guards
        from config.models import ChangeMark

        random = "It is made from random bytes."
        personal_data.declare(
            ChangeMark, mark=personal_data.retained("which change of keys or storage came last", random)
        )
        pre_migrate.connect(change_triggers.before_migrate, sender=self)
        post_migrate.connect(change_triggers.install, sender=self)
        pre_migrate.connect(row_guards.before_migrate, sender=self)
        post_migrate.connect(row_guards.install, sender=self)

from django.apps import AppConfig


class RetentionConfig(AppConfig):
    name = "retention"

    def ready(self) -> None:
        from retention import personal_data

        personal_data.declare_all()

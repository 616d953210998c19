from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import personal_data
        from accounts.back_office import register_page
        from accounts.models import ApiKey, Invite, Member

        personal_data.declare_all()
        register_page("invite", Invite)
        register_page("key", ApiKey, "key_id")
        register_page("member", Member)

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import personal_data
        from accounts.authentication import sender
        from accounts.back_office import register_page
        from accounts.models import ApiKey, Invite, Member
        from config.front import senders

        personal_data.declare_all()
        register_page("invite", Invite)
        register_page("key", ApiKey, "key_id")
        register_page("member", Member)
        senders.register(sender)

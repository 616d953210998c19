from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import audit_guards, personal_data
        from accounts.authentication import sender
        from accounts.back_office import register_page
        from accounts.models import ApiKey, Invite, Member, Organization, User
        from config import row_guards
        from config.change_triggers import watch
        from config.http import sender_name

        personal_data.declare_all()
        row_guards.register(*audit_guards.GUARDS)
        steps = {"onboarding_dismissed", "onboarding_opened", "onboarding_verified"}
        watch(ApiKey, but={"last_used_at"})
        watch(Member, but=steps)
        watch(Organization, but=steps)
        watch(User, but={"totp_counter", "last_login"})
        register_page("invite", Invite)
        register_page("key", ApiKey, "key_id")
        register_page("member", Member)
        sender_name.register(sender)

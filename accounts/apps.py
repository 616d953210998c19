from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class BackOfficeConfig(admin_apps.AdminConfig):
    default = False
    default_site = "accounts.back_office.site.BackOfficeSite"


class AccountsConfig(AppConfig):
    name = "accounts"
    default = True  # this module has two configurations

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

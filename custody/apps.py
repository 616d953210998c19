from django.apps import AppConfig


class CustodyConfig(AppConfig):
    name = "custody"

    def ready(self) -> None:
        from accounts import back_office
        from config import health, row_guards, wrapped_secrets
        from config.change_triggers import watch
        from custody import checks, personal_data, selectors, services, vaults  # noqa: F401 - importing checks registers them
        from custody.back_office.states import needs
        from custody.models import Key, StorageTarget
        from custody.rows import signed_rows
        from custody.services import fsck

        personal_data.declare_all()
        watch(Key)
        watch(StorageTarget, but={"folders_searched", "next_folder"})
        row_guards.register(*signed_rows.CUSTODY)
        health.register("vault", vaults.probe)
        health.register("keys", wrapped_secrets.probe)
        health.register("journal", services.require_replayed)
        health.register("targets", selectors.require_no_outage, required=False)
        health.register("custody", fsck.require_undamaged, required=False)
        health.register_figure("queue_lag_seconds", selectors.queue_lag_seconds)
        back_office.register_needs(needs)

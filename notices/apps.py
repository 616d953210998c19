from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "notices"

    def ready(self) -> None:
        from accounts.back_office import register_counts, register_flows, register_needs, register_page
        from accounts.demo import register_step
        from config import row_guards
        from custody import record_types
        from custody.rows import signed_rows
        from decisions import misspellings, record_warnings
        from decisions.back_office import register_decision_panel, register_review_prompt
        from decisions.mapping.back_office import register_sample_letter
        from decisions.unnotified_requests import register_unnotified_requests
        from notices import (  # noqa: F401 - importing checks registers them
            checks,
            dry_runs,
            follow_up,
            guarded_rows,
            personal_data,
        )
        from notices.back_office import dashboard, requests, sample_letters
        from notices.demo import draft_notices
        from notices.models import AuthorityGrant, Notice, SealedNotice
        from notices.record_types import NOTICE

        personal_data.declare_all()
        record_types.register(NOTICE)
        row_guards.register(signed_rows.index_guard(SealedNotice), *guarded_rows.guards())
        register_step(draft_notices)
        misspellings.register_names(dry_runs.record_names)
        record_warnings.register_record_check(dry_runs.lacking)
        register_needs(dashboard.needs)
        register_flows(dashboard.flows)
        register_counts(dashboard.menu_counts)
        register_decision_panel(requests.to_write)
        register_decision_panel(dashboard.panel)
        register_review_prompt(requests.review_prompt)
        register_unnotified_requests(follow_up.unnotified_requests)
        register_sample_letter(sample_letters.letter)
        register_page("notice", Notice)
        register_page("authority_grant", AuthorityGrant)

"""Services that change state check themselves who calls them: each has a permission, or a reason to have none."""

import importlib.util
import inspect
import pkgutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from django.apps import apps
from django.db.models import Model

from accounts.audit import SYSTEM
from accounts.authority import SecondFactorOwed
from accounts.callers import Caller
from accounts.models import Organization
from accounts.roles import MATRIX, Role
from config.errors import NotAllowed, NotFound
from config.tenancy import TenantQuerySet

UNGUARDED = {
    "A person who signs in has no role yet: they prove themselves by the code and the browser that requested it.": {
        "accounts.services.codes.request_code",
        "accounts.services.codes.verify_code",
        "accounts.services.codes.count_app_try",
        "accounts.services.sign_in.by_code",
        "accounts.services.sign_in.by_app",
        "accounts.services.sign_in.waiting_person",
        "accounts.services.sign_in.secret_to_enrol",
        "accounts.services.sessions.begin",
        "accounts.services.sessions.renew",
    },
    "An invited person shows the link, and then a code that was mailed to the invited address.": {
        "accounts.services.invites.open_invite",
        "accounts.services.invites.request_code",
        "accounts.services.invites.accept_invite",
    },
    "People look after their own app, sessions and first steps, whatever their role.": {
        "accounts.services.second_factor.enrol",
        "accounts.services.second_factor.confirm",
        "accounts.services.second_factor.note_refusal",
        "accounts.services.sessions.confirm",
        "accounts.services.sessions.touch",
        "accounts.services.sessions.sign_out",
        "accounts.services.sessions.end",
        "accounts.services.organizations.update_onboarding",
    },
    "A run of retention does it by age, for its organization.": {
        "connectors.services.ledger.forget",
        "retention.services.holds.forget_lifted",
    },
    "A worker does it by the clock, for all organizations.": {
        "accounts.services.codes.deliver_codes",
        "accounts.services.codes.note_refusals",
        "accounts.services.guards.send_loosenings",
        "accounts.services.invites.deliver_invites",
        "accounts.services.sessions.end_stale",
        "custody.services.custody_alerts.send_storage_alerts",
        "custody.services.storage_watch.watch_targets",
        "custody.services.reconciler.reconcile",
        "custody.services.searching.search",
        "custody.services.searching.search_earlier_targets",
        "notices.services.delivery.deliver_letters",
        "notices.services.delivery.letters_wait",
        "notices.services.reminders.remind",
        "notices.services.reminders.send_reminders",
        "notices.services.review_requests.acknowledge_requests",
        "notices.services.sealing.seal_approved",
        "notices.services.sealing.seals_wait",
        "connectors.services.alerts.note_silence",
        "connectors.services.clock_skew.repair_times",
        "connectors.services.alerts.send_alerts",
        "custody.services.custody_alerts.send_damage_alerts",
        "custody.services.distant_leases.shorten_distant_leases",
        "custody.services.fsck.inspect_for_a_while",
        "custody.services.custody_alerts.note_key_outages",
        "custody.services.custody_alerts.send_key_alerts",
        "connectors.services.claims.claim",
        "connectors.services.claims.release",
        "connectors.services.claims.take_turn",
        "connectors.services.polling.poll",
        "connectors.services.polling.poll_due",
        "custody.services.dispose.finish_all_disposals",
        "custody.services.replay.replay",
        "retention.services.announcements.send_announcements",
        "retention.services.runs.run_daily",
    },
    "Only an administrator at the command line can, and acts for no organization.": {
        "accounts.services.organizations.create_organization",
        "accounts.services.second_factor.reset",
        "custody.services.fsck.begin",
        "custody.services.fsck.inspect",
        "custody.services.keys.import_key_file",
        "custody.services.reconciler.adopt_orphans",
        "custody.services.repair.repair_vaults",
        "custody.services.storage.choose_target",
        "custody.services.vault_marker.mark_vault",
    },
    "It is the last step of add_member, accept_invite and create_organization, which settle who becomes a member.": {
        "accounts.services.members.join",
    },
    "The recipient of a letter asks, and proves it by the letter's code.": {
        "notices.services.review_requests.newest_request",
        "notices.services.review_requests.request_review",
    },
    "Custody knows no roles: it keeps what services above it, which have a caller, hand down.": {
        "custody.services.complete.adopt",
        "custody.services.complete.adopt_or_log",
        "custody.services.complete.complete",
        "custody.services.complete.mark_stored",
        "custody.services.complete.put",
        "custody.services.dispose.dispose",
        "custody.services.dispose.finish_disposals",
        "custody.services.dispose.write_disposals",
        "custody.services.dispose.reopen_disposals",
        "custody.services.recalling.recall",
        "custody.services.searching.choice_key",
        "custody.services.searching.forget",
        "custody.services.searching.listed",
        "custody.services.sign.sign_queued",
        "custody.services.store.foretell",
        "custody.services.store.store_records",
        "custody.services.store.take",
    },
    "It is a step of services that have a caller, within their transactions.": {
        "accounts.services.guards.change",
        "accounts.services.guards.refusal",
        "accounts.services.lineage.end",
        "accounts.services.lineage.lock",
        "accounts.services.lineage.maker",
        "notices.services.audit_trail.record",
        "notices.services.contributors.add",
        "notices.services.contributors.add_author_of_mapping",
        "notices.services.contributors.add_authors",
        "notices.services.contributors.take_over",
        "notices.services.restoring.restore",
        "notices.services.review.withdraw_replaced",
        "notices.services.review_outcomes.settle",
        "connectors.services.rows.record",
        "connectors.services.rows.start",
    },
    "It is a step of a poll, which works for the connector's organization.": {
        "connectors.services.alerts.alert",
        "connectors.services.intake.take",
        "connectors.services.ledger.forget_gone",
        "connectors.services.ledger.names_of",
        "connectors.services.ledger.write",
        "connectors.services.quarantine.note",
        "connectors.services.unserved.leave",
        "connectors.services.unserved.serve",
    },
    "It stores what it computes of a notice, and nothing that a caller says.": {
        "notices.services.derived_rows.store",
        "notices.services.stored_checks.check",
        "notices.services.stored_pdfs.pdf",
    },
    "It changes nothing.": {
        "custody.services.moving.not_at",
        "connectors.services.ledger.reader",
        "connectors.services.claims.due_count",
        "connectors.services.claims.forget_order",
        "connectors.services.claims.others_wait",
        "connectors.services.ledger.finder",
        "connectors.services.unserved.now",
        "connectors.services.unserved.require_none",
        "connectors.services.unserved.source_ids",
        "connectors.services.rows.locked",
        "connectors.services.rows.require_polled",
        "accounts.services.codes.owner",
        "accounts.services.lineage.expiry",
        "accounts.services.lineage.member_detail",
        "accounts.services.lineage.of_key",
        "accounts.services.lineage.of_member",
        "accounts.services.members.require_reach",
        "accounts.services.second_factor.is_needed",
        "accounts.services.second_factor.is_enrolled",
        "accounts.services.second_factor.new_secret",
        "accounts.services.second_factor.qr_code",
        "accounts.services.second_factor.seal",
        "accounts.services.second_factor.unseal",
        "accounts.services.sessions.is_signed_in",
        "accounts.services.sessions.is_of",
        "accounts.services.sessions.of_person",
        "custody.services.dispose.prepare",
        "custody.services.dispose.signed_disposals",
        "custody.services.custody_alerts.queue_damage_alerts",
        "custody.services.custody_alerts.queue_storage_alerts",
        "custody.services.fsck.damage",
        "custody.services.fsck.require_undamaged",
        "custody.services.fsck.unfinished",
        "custody.services.repair.outside_the_database",
        "custody.services.repair.stored_records",
        "custody.services.replay.forget",
        "custody.services.turns.forget",
        "custody.services.replay.require_replayed",
        "retention.services.runs.organizations_with_a_policy",
        "custody.services.vault_marker.targets_with_a_root",
        "notices.services.approval_rules.require_acknowledged",
        "notices.services.approval_rules.require_approvable",
        "notices.services.revisions.require_seen",
        "notices.services.sealing.index_row",
    },
}
Service = Callable[..., Any]
CHECKOUT = Path(__file__).resolve().parents[2]


def services() -> Iterator[tuple[str, Service]]:
    """Yield every public function of the services of every app, with its full name."""
    for app in apps.get_app_configs():
        if not Path(app.path).is_relative_to(CHECKOUT) or importlib.util.find_spec(f"{app.name}.services") is None:
            continue
        root = importlib.import_module(f"{app.name}.services")
        below = pkgutil.walk_packages(getattr(root, "__path__", []), f"{root.__name__}.")
        for module in (root, *(importlib.import_module(info.name) for info in below)):
            for name, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ == module.__name__ and not name.startswith("_"):
                    yield f"{module.__name__}.{name}", function


def offered() -> Iterator[Service]:
    """Yield the services that apps offer to other apps."""
    for app in {name.partition(".")[0] for name in SERVICES}:
        package = importlib.import_module(f"{app}.services")
        names = getattr(package, "__all__", ())
        yield from (value for value in (getattr(package, name) for name in names) if inspect.isfunction(value))


SERVICES = dict(services())
GUARDED = {name: service for name, service in SERVICES.items() if hasattr(service, "permission")}
ALLOWED = set[str]().union(*UNGUARDED.values())


def caller(role: Role, *, owes: bool = False) -> Caller:
    return Caller(uuid.uuid4(), role, SYSTEM, owes_second_factor=owes)


def test_the_services_of_every_app_are_found():
    assert {name.partition(".")[0] for name in SERVICES} >= {"accounts", "custody", "decisions", "notices"}


def test_every_offered_service_is_defined_in_the_apps_services():
    assert [service.__qualname__ for service in offered() if service not in SERVICES.values()] == []


def test_a_service_requires_a_permission_or_has_a_reason_not_to():
    assert set(SERVICES) - set(GUARDED) - ALLOWED == set()


def test_each_reason_is_a_sentence_and_each_service_under_it_has_no_permission():
    assert all(reason[0].isupper() and reason.endswith(".") and " " in reason for reason in UNGUARDED)
    assert ALLOWED - (set(SERVICES) - set(GUARDED)) == set()
    assert len(ALLOWED) == sum(map(len, UNGUARDED.values())), "one reason each"


def test_a_guarded_service_takes_its_caller_and_all_else_by_name():
    """Only named arguments are checked, and each shows its organization itself."""
    for name, service in GUARDED.items():
        parameters = inspect.signature(service).parameters
        assert get_type_hints(inspect.unwrap(service))["caller"] is Caller, name
        assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}, name
        assert not {"organization", "organization_id", "actor"}.intersection(parameters), name


def refusal(service: Service, **given: Any) -> Exception | None:
    """Return the exception of a call with only these arguments. A late check would fail for missing arguments first."""
    try:
        service(**given)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("role", list(Role))
def test_a_guarded_service_refuses_a_role_that_the_matrix_does_not_allow(role):
    for name, service in GUARDED.items():
        if role not in MATRIX[service.permission]:
            refused = refusal(service, caller=caller(role))
            assert type(refused) is NotAllowed, name
            assert refused.sentence == f"The role {role} may not {service.permission}.", name


def test_a_guarded_service_refuses_a_caller_who_owes_a_second_factor():
    for name, service in GUARDED.items():
        for role in MATRIX[service.permission]:
            assert isinstance(refusal(service, caller=caller(role, owes=True)), SecondFactorOwed), name


def models_of(annotation: Any) -> set[type[Model]]:
    """Return the models of organizations that an argument can have."""
    kinds = [annotation, *get_args(annotation)]
    models = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Model)}
    return {
        model for model in models if model is Organization or isinstance(model._default_manager.all(), TenantQuerySet)
    }


def foreign_object(model: type[Model]) -> Model:
    if model is Organization:
        return Organization()
    first, *others = model._default_manager.all().organization_path.split("__")
    between = model._meta.get_field(first).related_model
    return model(**{first: Organization() if not others else foreign_object(between)})


ARGUMENTS = {
    f"{name}({argument})": (service, argument, model)
    for name, service in GUARDED.items()
    for argument, annotation in get_type_hints(inspect.unwrap(service)).items()
    if argument != "return"
    for model in models_of(annotation)
}


def test_a_guarded_service_does_not_find_another_organizations_object():
    assert {"accounts.services.keys.revoke_api_key(key)", "accounts.services.members.remove_member(member)"} < set(
        ARGUMENTS
    )
    for name, (service, argument, model) in ARGUMENTS.items():
        other = foreign_object(model)
        for given in (other, [other]):
            refused = refusal(service, caller=caller(Role.OWNER), **{argument: given})
            assert type(refused) is NotFound, name

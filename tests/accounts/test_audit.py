"""The audit trail: every change writes its event, and no event is ever changed or removed."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from accounts import audit, callers, services
from accounts.callers import Caller
from accounts.models import AuditEvent, Member, Organization, User
from accounts.roles import Role
from accounts.services import invites
from tests.people import add_person, sign_in

pytestmark = pytest.mark.django_db


def verbs() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("verb", flat=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda event: event.save(),
        lambda event: event.delete(),
        lambda event: AuditEvent.objects.update(verb="nothing.happened"),
        lambda event: AuditEvent.objects.all().delete(),
        lambda event: AuditEvent.objects.filter(pk=event.pk)._raw_delete("default"),
        lambda event: AuditEvent.objects.bulk_update([event], ["verb"]),
    ],
    ids=["save", "delete", "update", "delete all", "raw delete", "bulk update"],
)
def test_the_orm_can_neither_change_nor_remove_an_event(organization, change):
    before = list(AuditEvent.objects.order_by("pk").values())
    with pytest.raises(DatabaseError, match="audit events"), transaction.atomic():
        change(AuditEvent.objects.first())
    assert list(AuditEvent.objects.order_by("pk").values()) == before


SQL = [
    "UPDATE accounts_auditevent SET verb = 'nothing.happened'",
    "UPDATE accounts_auditevent SET id = id + 1000",
    "DELETE FROM accounts_auditevent",
    "INSERT INTO accounts_auditevent SELECT * FROM accounts_auditevent WHERE true "
    "ON CONFLICT (id) DO UPDATE SET verb = 'nothing.happened'",
]
ONLY_ON = {
    "postgresql": ["TRUNCATE accounts_auditevent", "TRUNCATE accounts_organization CASCADE"],
    "sqlite": ["REPLACE INTO accounts_auditevent SELECT * FROM accounts_auditevent"],
}


def test_sql_can_neither_change_nor_remove_an_event(organization):
    before = list(AuditEvent.objects.order_by("pk").values())
    connection.check_constraints()  # PostgreSQL truncates nothing that has checks to come
    for statement in SQL + ONLY_ON[connection.vendor]:
        with (
            pytest.raises(DatabaseError, match="audit events"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
        assert list(AuditEvent.objects.order_by("pk").values()) == before, statement


def test_an_organization_with_a_history_cannot_be_removed(organization):
    remove = organization._meta.model.objects.filter(pk=organization.pk)._raw_delete
    with pytest.raises(DatabaseError), transaction.atomic():
        remove("default") and connection.check_constraints()


def test_an_event_names_who_did_what_to_which_object(api):
    made = api.post("/v1/auth/api-keys", b'{"name": "more"}').json()
    event = AuditEvent.objects.latest("pk")
    assert (event.verb, event.object_kind, event.object_id, event.detail) == (
        "key.created", "key", made["key_id"], {"role": "owner"},
    )  # fmt: skip
    assert (event.actor_kind, event.actor_id, event.actor_label) == ("key", api.token.split("_")[1], "test")


def test_every_change_writes_its_event(organization, api):
    owner = Caller(organization.id, Role.OWNER, audit.SYSTEM)
    start = len(verbs())
    key, _ = services.create_api_key(caller=callers.system(organization.id), name="x", role=Role.EDITOR)
    services.revoke_api_key(caller=callers.system(organization.pk), key=key)
    services.add_member(caller=callers.system(organization.pk), email="new@b.example", role=Role.EDITOR)
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    Organization.objects.update(second_factor_required=False)
    invites.revoke_invite(invite=invites.invite(caller=owner, email="guest@b.example", role=Role.AUDITOR), caller=owner)
    api.ingest({"decision_id": "loan-1"})
    api.ingest({"decision_id": "loan-1", "changed": True})
    browser = sign_in(add_person(organization, Role.EDITOR).user.email)
    browser.defaults["HTTP_X_CSRFTOKEN"] = browser.get("/v1/auth/me").json()["csrf_token"]
    browser.patch("/v1/auth/onboarding", {"opened": True}, content_type="application/json")
    browser.post("/v1/auth/sign-out", content_type="application/json")
    assert verbs()[start:] == [
        "key.created",
        "key.revoked",
        "member.added",
        "guard.tightened",
        "organization.second_factor",
        "invite.created",
        "invite.revoked",
        "record.conflict",
        "member.added",
        "sign_in.code_sent",
        "sign_in.succeeded",
        "member.onboarding",
        "session.ended",
    ]


def test_a_call_that_changes_nothing_writes_no_event(organization):
    before = verbs()
    owner = organization.members.get()
    services.add_member(caller=callers.system(organization.pk), email=owner.user.email, role=Role.AUDITOR)
    services.require_second_factor(caller=callers.system(organization.pk), required=False)
    assert verbs() == before
    assert organization.members.get().role == Role.OWNER


def test_a_change_that_fails_leaves_no_event(organization):
    before = verbs()
    with pytest.raises(services.SlugTaken):
        services.create_organization(name="x", slug=organization.slug, owner_email="a@b.example", actor=audit.SYSTEM)
    assert verbs() == before


def test_a_refused_content_is_not_in_the_event_of_the_conflict(api):
    api.ingest({"decision_id": "loan-1"})
    api.ingest({"decision_id": "loan-1", "private": "canary-31"})
    event = AuditEvent.objects.get(verb="record.conflict")
    assert event.detail == {"source": "api"}
    assert "canary-31" not in str(AuditEvent.objects.values_list())
    assert "loan-1" not in str(AuditEvent.objects.filter(pk=event.pk).values_list())


def refused_by_the_database(model: type, **values: object) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.create(**values)


def test_the_database_refuses_an_unknown_role(organization):
    user = User.objects.create(email="new@b.example")
    refused_by_the_database(Member, organization=organization, user=user, role="boss")
    for model in ("ApiKey", "Invite"):
        fields = {"ApiKey": {"key_id": "x"}, "Invite": {"email": "a@b.example", "expires_at": "2030-01-01T00:00Z"}}
        table = Member._meta.apps.get_model("accounts", model)
        refused_by_the_database(table, organization=organization, role="boss", **fields[model])
    with pytest.raises(IntegrityError), transaction.atomic():
        Member.objects.update(role="")


def test_the_database_keeps_mail_addresses_in_lower_case_and_unique(organization):
    refused_by_the_database(User, email="Upper@b.example")
    refused_by_the_database(User, email="owner@bank.example")


def test_the_database_knows_one_membership_of_a_person_in_an_organization(organization):
    member = organization.members.get()
    refused_by_the_database(Member, organization=organization, user=member.user, role="editor")

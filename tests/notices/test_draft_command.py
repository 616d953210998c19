"""`manage.py draft_notices` drafts in bulk what has no notice yet, and resumes after an interruption."""

import pytest
from django.core.management import CommandError, call_command

from accounts.selectors import UnknownSlug
from custody import vaults
from custody.models import object_key
from decisions.models import Decision
from notices import services
from notices.models import Notice
from tests.notices.conftest import approve, done, drafted, edit, refused, shown, step
from tests.support.kept_rows import make_once
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def loans(api) -> list[str]:
    """Ingest six decisions, every other one denied."""

    def make() -> list[str]:
        ids = [f"loan-{number}" for number in range(6)]
        for number, decision_id in enumerate(ids):
            action = "denied" if number % 2 else "approved"
            record = {
                "decision_id": decision_id,
                "decided_at": f"2026-11-0{number + 1}T10:00:00Z",
                "subject": {"reference": f"application {number}"},
                "system": {"name": "Example Scorecard"},
                "outcome": {"action": action},
            }
            done(api.ingest(record))
        return ids

    return make_once("loans", make)


@pytest.fixture
def run(organization, capsys):
    """Run the command and return its standard output."""

    def call(*options: str, pack: str = "general") -> str:
        call_command("draft_notices", "--organization", organization.slug, "--pack", pack, *options)
        return capsys.readouterr().out

    return call


def noticed() -> list[str]:
    return sorted(Notice.objects.values_list("decision__decision_id", flat=True))


def test_every_decision_gets_a_notice_and_a_second_run_finds_nothing_to_do(loans, run):
    assert run() == "6 notices drafted\n"
    assert run() == "0 notices drafted\n"
    assert noticed() == loans


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["action=denied"], ["loan-1", "loan-3", "loan-5"]),
        (["action=denied", "decided_from=2026-11-04T00:00:00Z"], ["loan-3", "loan-5"]),
        (["decided_to=2026-11-02T00:00:00Z"], ["loan-0"]),
        (["system=Example Scorecard", "action=nothing"], []),
        (["source=api"], [f"loan-{number}" for number in range(6)]),
    ],
)
def test_filters_choose_as_they_do_in_the_api(loans, run, filters, expected):
    run(*[f"--filter={condition}" for condition in filters])
    assert noticed() == expected


def test_reconsiderations_get_a_notice_only_if_they_are_asked_for(api, loans, run):
    review = (
        b'{"requested_by": "applicant", "reviewer": "desk 4", "reviewer_authority": "officer", '
        b'"outcome": "overturned", "rationale": "new income"}'
    )
    reconsidered = api.post("/v1/decisions/loan-1/reconsideration", review).json()["decision_id"]
    run()
    assert noticed() == loans
    run("--filter=kind=reconsideration")
    assert reconsidered in noticed()


def test_a_limit_takes_the_oldest_first_and_the_next_run_goes_on(loans, run):
    for expected in (loans[:4], loans):
        run("--limit=4")
        assert noticed() == expected


def test_an_interrupted_run_keeps_its_drafts_and_the_next_continues(loans, run, monkeypatch):
    real, left = services.draft, iter(range(3))

    def until_killed(**asked: object) -> Notice:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(**asked)

    with monkeypatch.context() as patch:
        patch.setattr(services, "draft", until_killed)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert noticed() == loans[:3]
    assert run() == "3 notices drafted\n"
    assert noticed() == loans


def test_it_reports_its_progress(loans, organization, capsys):
    call_command("draft_notices", "--organization", organization.slug, "--pack", "general")
    assert "Drafting notices: 6 of 6, done" in capsys.readouterr().err


def test_a_dry_run_counts_and_makes_nothing(loans, run):
    assert run("--dry-run", "--filter=action=denied") == "3 decisions would get a notice\n"
    assert run("--dry-run", "--limit=2") == "2 decisions would get a notice\n"
    assert noticed() == []


def test_a_decision_is_skipped_unless_its_notice_was_withdrawn(api, loans, run):
    standing, withdrawn = drafted(api, "loan-0"), drafted(api, "loan-1")
    edit(api, standing, title="By hand")
    step(api, withdrawn, "withdraw")
    run()
    assert noticed() == sorted([*loans, "loan-1"])
    assert shown(api, standing)["content"]["title"] == "By hand"


def test_a_notice_under_another_pack_does_not_count(api, loans, run):
    drafted(api, "loan-0", pack="gdpr_22")
    run("--limit=1")
    assert noticed() == ["loan-0", "loan-0"]


def test_the_drafts_are_those_of_the_api_with_the_subject_s_reference(api, loans, run):
    run("--limit=1", "--language=de")
    made = Notice.objects.get()
    assert (made.language, made.recipient) == ("de", {"reference": "application 0"})
    assert made.created_by.startswith("system ")
    assert shown(api, {"notice_id": made.pk})["content"]["language"] == "de"


def test_a_record_that_cannot_be_read_is_named_and_the_others_are_done(api, loans, run, capsys):
    record = Decision.objects.get(decision_id="loan-2").record
    with unguarded():
        vaults.current().delete(object_key(record.organization_id, record.pk))
    with pytest.raises(CommandError, match="1 records could not be read"):
        run()
    output = capsys.readouterr()
    assert "5 notices drafted" in output.out
    assert "loan-2" in output.err
    assert noticed() == sorted({*loans} - {"loan-2"})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--filter=colour=red"], "colour"),
        (["--filter=action"], "NAME=VALUE"),
        (["--filter=limit=5"], "limit"),
        (["--filter=decided_from=yesterday"], "decided_from"),
        (["--language=ja"], "en, de, fr"),
        (["--limit=-1"], "limit"),
        (["--limit=0"], "limit"),
        (["--pack=nowhere"], "us_ecoa_fcra"),
    ],
)
def test_an_unknown_argument_is_named(loans, run, options, complaint):
    with pytest.raises(CommandError, match=complaint):
        run(*options)
    assert noticed() == []


def test_an_unknown_organization_is_named(loans, run):
    with pytest.raises(UnknownSlug, match="nowhere"):
        run("--organization=nowhere")


def test_drafts_of_the_command_have_no_writer_and_any_member_may_approve(api, loans, run):
    run("--limit=1")
    made = {"notice_id": Notice.objects.get().pk}
    assert done(approve(api, made))["state"] == "approved"
    assert "approved" in refused(approve(api, made))


def test_another_organization_s_decisions_are_not_touched(other_api, loans, organization):
    call_command("draft_notices", "--organization", other_api.organization.slug, "--pack", "general")
    assert noticed() == []

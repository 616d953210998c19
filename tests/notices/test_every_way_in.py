"""A record gets the same warnings by every way in: preview, notice, review page, approval and dry run."""

import json
import re

import pytest

from accounts.roles import Role
from notices.models import Approval
from notices.packs import packs
from tests.corpus.letters import Entry, entries
from tests.notices.conftest import approve, done, drafted, fill_in_names, send
from tests.notices.test_back_office import page

pytestmark = pytest.mark.django_db
SOME = list({entry.pack: entry for entry in reversed(entries())}.values())
"""The first under each pack: some have problems, some have warnings, some have neither."""


@pytest.mark.parametrize("entry", SOME, ids=lambda entry: entry.name)
def test_every_way_in_gives_the_same_problems_and_warnings(api, signed_in, entry: Entry):
    raw = entry.record.read_bytes()
    fill_in_names(api, entry.pack)
    tried = done(api.post("/v1/ingest/srf?dry_run=true", raw))
    decision_id = done(api.ingest(raw))["decision_id"]
    preview = done(send(api, "POST", "notices/preview", {"record": json.loads(raw)}))
    notice = drafted(api, decision_id)
    assert (preview["warnings"], preview["problems"]) == (notice["warnings"], notice["problems"])
    sentences = [
        f"A notice under {packs()[entry.pack].short_name} could not be approved. {problem}"
        for problem in notice["problems"]
    ]
    about_notice = (warning["sentence"] for warning in tried["warnings"] if warning["kind"] == "notice")
    assert [sentence for sentence in about_notice if "could not be approved" in sentence] == sentences
    ids = [warning["id"] for warning in notice["warnings"]]
    html = signed_in(Role.APPROVER).get(page(notice)).content.decode()
    must_acknowledge = ids if not packs()[entry.pack].advisory else []
    if not notice["problems"]:
        assert re.findall(r'name="acknowledge" value="([^"]+)"', html) == must_acknowledge
    answer = approve(api, notice)
    refusal = answer.json().get("detail", "")
    if notice["problems"]:
        assert answer.status_code == 409
        assert all(problem in refusal for problem in notice["problems"][:1])
    elif must_acknowledge:
        assert all(warning_id in refusal for warning_id in must_acknowledge[:5])
    assert Approval.objects.exists() is not bool(notice["problems"] or must_acknowledge)

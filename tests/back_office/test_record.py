"""The record on a decision's page: a tree of paths and values for any size of record, and downloads."""

import json
import re
from urllib.parse import quote

import pytest

from accounts.roles import Role
from custody.sealing import fields
from decisions import back_office, record_summary, record_tree
from decisions.back_office import Panel
from decisions.record_summary import Reason
from tests.conftest import Api

pytestmark = pytest.mark.django_db


def page_of(receipt):
    return f"/admin/decisions/decision/{receipt['record_id']}/change/"


def walk(nodes):
    for node in nodes:
        yield node
        yield from walk(node.children or [])


RECORD = {
    "decision_id": "x",
    "outcome": {"action": "denied", "reasons": ["first", "second"]},
    "events": {"a.b": {"inner": True}, 'quo"te': None, "": 1, "empty": {}, "none": []},
}


def test_each_field_has_the_path_that_notices_cite_and_its_value():
    payload = json.dumps(RECORD).encode()
    shown = {node.path: node.value for node in walk(record_tree.part(payload).nodes) if node.value is not None}
    cited = {path: json.loads(scalar) for path, scalar in fields.leaves(payload)}
    assert set(shown) - set(cited) == {"events.empty", "events.none"}
    for path, value in cited.items():
        assert shown[path] == (value if isinstance(value, str) else json.dumps(value))


def test_the_tree_is_in_the_order_of_the_record():
    payload = b'{"z": 1, "decision_id": "x", "a": {"y": 1, "b": 2}}'
    assert [node.path for node in walk(record_tree.part(payload).nodes)] == ["z", "decision_id", "a", "a.y", "a.b"]


@pytest.mark.parametrize("path", ["outcome", "outcome.reasons", "events", 'events."a.b"'])
def test_a_part_is_found_by_its_path(path):
    payload = json.dumps(RECORD).encode()
    part = record_tree.part(payload, path)
    assert [node.path for node in part.nodes] == [node.path for node in walk(record_tree.part(payload).nodes)
                                                  if node.stem == f"{path}."]  # fmt: skip
    assert part.above[0] == ("", "")


def test_labels_are_the_last_keys_in_words_and_positions_count_from_one():
    record = {"decision_id": "x", "sum_insured_eur": 1, "a.b": 2, "Xy_z": 3, "": 4, "list": [5]}
    nodes = walk(record_tree.part(json.dumps(record).encode()).nodes)
    labels = ["Decision id", "Sum insured eur", "A b", "Xy_z", '""', "List", "Item 1"]
    assert [node.label for node in nodes] == labels
    assert record_tree.part(json.dumps(record).encode(), "list").label == "List"


@pytest.mark.parametrize(
    "path", ["nothing", "outcome.action", "outcome.", ".", "outcome.reasons.2", "outcome.act", "\x00"]
)
def test_an_unknown_part_of_the_record_is_a_404(api, signed_in, path):
    receipt = api.ingest(RECORD).json()
    browser = signed_in(Role.AUDITOR)
    assert browser.get(page_of(receipt), {"at": path}).status_code == 404


@pytest.fixture(scope="module")
def huge():
    """Return a record of 10,000 fields in 500 KB, half of them in a list, half in parts."""
    parts = {f"part {number}": {f"field {n}": "x" * 60 for n in range(50)} for number in range(100)}
    return json.dumps({"decision_id": "huge", "list": list(range(5000)), "parts": parts, "text": "y" * 30_000}).encode()


def test_a_page_shows_a_bounded_number_of_fields_and_links_to_the_others(huge):
    seen, wanted = set(), [("", 0)]
    while wanted:
        part = record_tree.part(huge, *wanted.pop())
        nodes = list(walk(part.nodes))
        assert len(nodes) <= 1000
        seen |= {node.path for node in nodes if node.value is not None}
        wanted += [(node.path, 0) for node in nodes if node.count and node.children is None]
        wanted += [(part.path, part.following)] if part.following else []
    assert seen == {path for path, _ in fields.leaves(huge)}


def test_a_deep_record_is_divided_into_readable_pages(api, signed_in):
    record = {"decision_id": "deep", "nested": {}}
    nested = record["nested"]
    for _ in range(60):
        nested["n"] = nested = {}
    nested["end"] = "the end"
    path = page_of(api.ingest(record).json())
    browser, link, pages = signed_in(Role.AUDITOR), "", 0
    while "the end" not in (shown := browser.get(path + link).content.decode()):
        link, pages = re.search(r'href="(\?at=[^"#]+)#record">Show 1 field<', shown).group(1), pages + 1
    assert 5 < pages < 10


def test_a_huge_record_is_collapsed_and_divided_into_pages(api, signed_in, huge):
    path = page_of(api.ingest(huge).json())
    browser = signed_in(Role.AUDITOR)
    shown = browser.get(path).content.decode()
    assert len(shown) < 400_000
    assert "<details open>" not in shown
    assert "Show 5,000 fields" in shown
    assert "The next fields" in browser.get(path, {"at": "list"}).content.decode()
    assert ">list.200</code>" in browser.get(path, {"at": "list", "from": "200"}).content.decode()
    assert browser.get(path, {"at": "list", "from": "5000"}).status_code == 404
    assert browser.get(path, {"at": "list", "from": "-1"}).status_code == 200


def test_a_long_key_is_not_repeated_for_every_field_below_it(api, signed_in):
    record = {"decision_id": "x", "k" * 40_000: {f"f{n}": {"a": n} for n in range(350)}}
    path = page_of(api.ingest(record).json())
    assert len(signed_in(Role.AUDITOR).get(path).content) < 400_000


def test_a_path_can_be_copied(api, signed_in):
    shown = signed_in(Role.AUDITOR).get(page_of(api.ingest(RECORD).json())).content.decode()
    for path in ("outcome.reasons.1", 'events."a.b".inner'):
        assert f'data-copy="{path}"'.replace('"a.b"', "&quot;a.b&quot;") in shown


# ── why ──


def why(**outcome):
    return record_summary.summary(json.dumps({"decision_id": "x", "outcome": outcome}).encode())


def test_the_reasons_are_those_of_the_record_in_its_words():
    reasons = ["Too much debt.", {"code": "R7", "text": "A default."}, {"code": "R8"}, {"other": 1}, 7, " "]
    shown = why(reasons=reasons, principal_factors=["not shown"])
    assert shown.reasons == [Reason("Too much debt."), Reason("A default.", "R7"), Reason("R8")]
    assert (shown.path, shown.others) == ("outcome.reasons", 3)


def test_without_reasons_the_principal_factors_are_shown_with_exact_values():
    payload = b"""{"decision_id": "x", "outcome": {"reasons": [], "principal_factors": ["Late payments",
        {"factor": "debt_ratio", "path": "events.a", "value": 0.460, "direction": "adverse"}, {"path": "events.b"}]}}"""
    shown = record_summary.summary(payload)
    assert shown.reasons == [Reason("Late payments"), Reason("Debt ratio", value="0.460", direction="adverse")]
    assert (shown.path, shown.others) == ("outcome.principal_factors", 1)


@pytest.mark.parametrize("outcome", [{}, {"reasons": None}, {"reasons": 7}, {"denial_reason": "Not in the profile."}])
def test_other_fields_are_not_taken_for_reasons(outcome):
    assert why(**outcome).reasons == []


@pytest.mark.parametrize("outcome", [None, [], "denied", 7])
def test_a_record_with_any_outcome_has_a_summary(outcome):
    payload = json.dumps({"decision_id": "x", "outcome": outcome, "approval": outcome}).encode()
    assert record_summary.summary(payload).reasons == []


def test_the_page_bounds_long_and_many_reasons(api, signed_in):
    record = {"decision_id": "x", "outcome": {"reasons": ["y" * 40_000, *map(str, range(30))]}}
    shown = signed_in(Role.AUDITOR).get(page_of(api.ingest(record).json())).content.decode()
    assert shown.count("y" * 2000) == 20  # in the record only
    assert "See 19 more in the record" in shown


# ── files ──


def test_the_record_and_the_receipt_can_be_downloaded(api, signed_in):
    raw = b'{"decision_id": "l\xc3\xb6an/1",  "ratio": 0.920}'
    receipt = api.ingest(raw).json()
    browser = signed_in(Role.AUDITOR)
    base = f"/admin/decisions/decision/{receipt['record_id']}"
    record = browser.get(f"{base}/record/")
    assert record.content == raw
    assert record["Content-Disposition"] == f'attachment; filename="record-{receipt["record_id"]}.json"'
    assert browser.get(f"{base}/receipt/").json() == api.get(f"/v1/decisions/{quote('löan/1', safe='')}/receipt").json()


def test_a_download_of_a_missing_record_says_what_is_wrong(api, signed_in, filesystem_vault):
    receipt = api.ingest({"decision_id": "x"}).json()
    (path,) = filesystem_vault.rglob(receipt["record_id"].replace("-", ""))
    path.unlink()
    browser = signed_in(Role.AUDITOR)
    for name in ("record", "receipt"):
        answer = browser.get(f"/admin/decisions/decision/{receipt['record_id']}/{name}/")
        assert answer.status_code == 500
        assert "The stored record is missing from its vault." in answer.content.decode()


def test_downloads_of_another_organization_are_a_404(other_api: Api, signed_in):
    receipt = other_api.ingest({"decision_id": "x"}).json()
    browser = signed_in(Role.OWNER)
    for name in ("record", "receipt"):
        assert browser.get(f"/admin/decisions/decision/{receipt['record_id']}/{name}/").status_code == 404


# ── panels ──


def test_another_app_can_add_a_section_to_the_page(api, signed_in, monkeypatch):
    asked = []

    def panel(request, decision):
        asked.append(decision.decision_id)
        return Panel("Copies <here>", "admin/copy_button.html", {}) if decision.decision_id == "x" else None

    monkeypatch.setattr(back_office, "_PANELS", [])
    back_office.register_decision_panel(panel)
    browser = signed_in(Role.AUDITOR)
    with_panel = browser.get(page_of(api.ingest({"decision_id": "x"}).json())).content.decode()
    without = browser.get(page_of(api.ingest({"decision_id": "y"}).json())).content.decode()
    assert "Copies &lt;here&gt;</h2>" in with_panel
    assert "Copies" not in without
    assert asked == ["x", "y"]

"""Agreement of the documents with the code: links, settings, commands, columns and examples."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from config.management.commands.serve import Command as Serve
from custody.disposal import families
from custody.models import StorageTarget
from custody.sealing import fields, sealer
from decisions.models import Decision
from tests.conftest import Api
from tests.docs.documents import CHECKOUT, DOCUMENTS, blocks, first_column, section, text

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_OURS = ("config", "accounts", "custody", "decisions", "notices", "connectors", "retention")


def headings(document: Path) -> set[str]:
    """Return the anchors of a document's headings."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_inside_the_project_has_a_target(document: Path):
    links = [link for link in _LINK.findall(document.read_text()) if "://" not in link]
    for link in links:
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert target.is_relative_to(CHECKOUT), link
        assert not anchor or anchor in headings(target), link


@pytest.mark.parametrize("document", DOCUMENTS[1:], ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_every_document_is_linked_from_the_index_of_its_folder(document: Path):
    """An index is linked from the index of the folder above."""
    folder = document.parent.parent if document.name == "README.md" else document.parent
    assert document.relative_to(folder).as_posix() in _LINK.findall((folder / "README.md").read_text())


def test_every_decision_record_has_its_parts_and_its_status_in_the_index():
    pages = sorted((CHECKOUT / "docs/adr").glob("[0-9]*.md"))
    statuses = [re.search(r"^Status: (.*?)\.", page.read_text(), re.MULTILINE)[1] for page in pages]
    rows = re.findall(r"^\| \[(\d+) .*\]\((.*)\) \| (.*) \|$", text("docs/adr/README.md"), re.MULTILINE)
    assert rows == [(page.name[:4], page.name, status) for page, status in zip(pages, statuses, strict=True)]
    for page in pages:
        parts = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences", "What would change our mind"], page.name


def test_exactly_the_existing_settings_are_explained():
    read = set(re.findall(r'env\.\w+\(\s*"(\w+)"', text("config/settings.py")))
    read |= set(re.findall(r'environ\.get\("(\w+)"', text("config/heartbeats.py")))  # granian's master has no settings
    assert read >= {"DATA_DIR", "DATABASE_URL"}
    assert set(first_column(section("docs/operations.md", "Settings"))) == read


def test_exactly_the_existing_vaults_are_named():
    named = re.findall(r"^- \*\*`(\w+)`\*\*", section("docs/custody.md", "Vaults"), re.MULTILINE)
    assert set(named) == set(StorageTarget.Provider.values)


def test_exactly_the_existing_commands_and_options_are_explained():
    ours = {name: app for name, app in get_commands().items() if app in _OURS}
    explained = {usage.split()[0]: usage for usage in first_column(section("docs/operations.md", "Commands"))}
    assert set(explained) == set(ours)
    for name, app in ours.items():
        inherited = set(Serve().create_parser("", "")._option_string_actions) - {"--host", "--port"}
        options = set(load_command_class(app, name).create_parser("", name)._option_string_actions) - inherited
        assert set(re.findall(r"--[\w-]+", explained[name])) == options


def test_the_laws_that_lengthen_a_retention_policy_agree_with_the_packs():
    table = section("docs/retention.md", "Laws that lengthen it")
    rows = [[cell.strip() for cell in row.split("|")[1:4]] for row in re.findall(r"^\| `.*$", table, re.MULTILINE)]
    floors = families.all_floors()
    assert [row[:2] for row in rows] == [[f"`{floor.source}`", f"{floor.days} days"] for floor in floors]
    assert all(row[2].startswith(f"{floor.citation}: ") for row, floor in zip(rows, floors, strict=True))


def test_exactly_the_existing_api_operations_are_named():
    paths = json.loads(text("docs/openapi.json"))["paths"]
    offered = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    named = re.findall(r"`(GET|POST|PUT|PATCH|DELETE)\s(/v1/[^\s`?]*)`", text("docs/api.md"))
    assert {f"{method} {path}" for method, path in named} == offered


def test_the_first_of_several_lines_with_one_id_is_stored(filesystem_vault: Path, api: Api):
    """This holds in a vault with parallel writes, where the objects of the lines race for one key."""
    for number in range(10):
        lines = [b'{"decision_id": "twice-%d", "line": %d}' % (number, line) for line in (1, 2)]
        sent = api.post("/v1/ingest/srf/batch", b"\n".join(lines), "application/x-ndjson")
        assert [json.loads(line)["status"] for line in sent.getvalue().splitlines()] == ["created", "conflict"]
        assert api.get(f"/v1/decisions/twice-{number}/record").content == lines[0]
        assert api.get(f"/v1/decisions/twice-{number}").json()["source"] == "batch"


def test_the_documented_columns_agree_with_the_index():
    columns = {field.name for field in Decision._meta.concrete_fields}
    table = section("docs/srf-record.md", "What is indexed")
    described = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    assert {name for cell in described for name in re.findall(r"`(\w+)`", cell)} == columns - {"record", "organization"}


def test_the_worked_example_of_the_fields_commitment_agrees_with_the_code():
    document = blocks(CHECKOUT / "docs/custody.md")
    (payload,) = [block.code.strip().encode() for block in document if block.language == "json"]
    (example,) = [block for block in document if "LEAVES" in block.code]
    shown = dict(re.findall(r"^(.*?) +([0-9a-f]{64})$", example.printed, re.MULTILINE))
    key = sealer.derive(bytes(range(32))).field_salt_key
    leaves = fields.leaves(payload)
    (denial,) = fields.disclose(leaves, key, ["outcome.action"])
    assert shown["field-salt key"] == key.hex()
    assert (denial.index, shown["salt of leaf 3"]) == (3, denial.salt.hex())
    assert (len(leaves), shown["root, 5 leaves"]) == (5, fields.commitment(leaves, key).hex())


def test_the_documented_paths_are_spelled_like_in_the_code():
    record = {"outcome": {"action": "", "reasons": [""]}, "events": [{}, {"score": 1}], "facts": {"credit.score": 1}}
    spelled = {path for path, _ in fields.leaves(json.dumps(record).encode())}
    shown = set(first_column(section("docs/srf-record.md", "Paths"))) - {"events.scoring.score"}
    assert shown == spelled
    assert [path for path, _ in fields.leaves(b'{"events": {"scoring": {"score": 1}}}')] == ["events.scoring.score"]


def test_the_documented_make_targets_exist():
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    documented = {target for path in DOCUMENTS for target in re.findall(r"`?make ([a-z]+)`", path.read_text())}
    assert {"run", "test"} <= documented <= targets

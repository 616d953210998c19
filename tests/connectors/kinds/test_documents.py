"""Pages of the kinds: each documents all settings, and its example works."""

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from connectors import kinds, sources
from tests.connectors.kinds.test_object_storage import azure_cloud, gcs_cloud, s3_cloud
from tests.docs.documents import CHECKOUT, blocks, first_column, section
from tests.support.azurite import azurite
from tests.support.certificates import Authority
from tests.support.databases import tls_database
from tests.support.gcs_server import gcs_server
from tests.support.reader import Reader
from tests.support.s3_server import s3_server
from tests.support.web_server import Reply, Request, WebServer, json_reply, web_server

pytestmark = pytest.mark.once

RECORD = b'{"decision_id": "d-1"}'
KINDS = kinds.names()


def page(kind: str) -> Path:
    return CHECKOUT / f"docs/connectors/{kind}.md"


def example(kind: str) -> dict[str, Any]:
    return json.loads(next(block.code for block in blocks(page(kind)) if block.language == "json"))


def test_every_kind_has_a_page() -> None:
    assert sorted(path.stem for path in page("x").parent.glob("*.md") if path.stem in KINDS) == KINDS


def cells(heading: str) -> dict[str, str]:
    """Return the second column of a table on the first page, by the names in the first column."""
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", section("docs/connectors/README.md", heading), re.MULTILINE)
    return {name: second for first, second in rows for name in re.findall(r"`(\w+)`", first)}


def test_the_first_page_documents_the_secret_and_cursor_of_each_kind() -> None:
    assert cells("Secrets") == {name: kind.secret or "nothing" for name, kind in kinds.kinds().items()}
    rules = cells("Polling")
    assert {kind for kind in rules if kind in KINDS} == set(KINDS)


def test_the_kind_that_shows_how_to_add_one_reads(
    tmp_path: Path, serve: Callable[..., WebServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = [block.code for block in blocks(page("adding-a-kind")) if block.language == "py"]
    place = tmp_path / code.partition("\n")[0].removeprefix("# connectors/kinds/")
    place.parent.mkdir()
    place.write_text(code)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    log, statuses = [b'{"decision_id": "a"}', b'{"decision_id": "b"}', b'{"decision_id": "c"}'], []

    def answer(request: Request) -> Any:
        if statuses or request.headers["Authorization"] != "Bearer s3cret":
            return json_reply({}, statuses.pop() if statuses else 401)
        after, limit = int(request.query["after"]), int(request.query["limit"])
        return Reply(b"".join(line + b"\n" for line in log[after : after + limit]))

    kind = kinds.kind("line_log")
    url = f"https://localhost:{serve(answer).port}/log"
    reader = Reader(kind, {"url": url}, "s3cret")
    assert kind.check(reader.config) == []
    assert kind.check(kind.Config(url="http://localhost/")) != []
    assert reader.poll(batch_items=2, max_batches=1) == log[:2]
    log += [b'{"decision_id": "d"}', b"x" * (2**20 + 1)]
    assert [(item.raw, item.problem != "") for item in reader.items()] == [
        (log[2], False),
        (log[3], False),
        (b"", True),
    ]
    assert reader.poll() == []
    statuses.append(503)
    assert reader.fault().cause == "transient"
    assert Reader(kind, {"url": url}, "wrong").fault().cause == "config"
    assert Reader(kind, {"url": url}).fault().cause == "config"
    assert Reader(kind, {"url": "https://10.0.0.1/"}, "s3cret").fault().cause == "config"


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_names_every_setting(kind: str) -> None:
    documented = first_column(page(kind).read_text())
    settings = set(kinds.kind(kind).Config.model_fields)
    assert settings - {"format"} <= set(documented)
    assert "format" in documented or kind == "postgres"  # rows have none


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_has_no_problems(kind: str, settings: Any) -> None:
    settings.CONNECTOR_DIRECTORIES = ["/srv/exports"]
    shown = example(kind)
    assert shown["kind"] == kind
    assert sources.check(kind, shown["config"], shown.get("secret_ref", "")).problems == []
    assert bool(shown.get("secret_ref")) == bool(kinds.kind(kind).secret)


@pytest.fixture
def world(trusted: Authority, resolver: dict[str, list[list[str]]], settings: Any, tmp_path: Path) -> Any:
    """Build the source that an example reads. Yield the settings that lead to it, and the secret."""
    with ExitStack() as stack:

        def directory(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            settings.CONNECTOR_DIRECTORIES = [str(tmp_path)]
            (tmp_path / "a.ndjson").write_bytes(RECORD + b"\n")
            return {"path": str(tmp_path)}, ""

        def http_json(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            def answer(request: Request) -> Any:
                assert request.headers["X-Api-Key"] == "s3cret"
                return json_reply({"data": [json.loads(RECORD)], "meta": {"next": None}})

            server = stack.enter_context(web_server(answer, trusted.server_context("api.example.org")))
            allow("api.example.org")
            return {"url": config["url"].replace("example.org", f"example.org:{server.port}")}, "s3cret"

        def postgres(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            database = stack.enter_context(tls_database(trusted, config["host"]))
            allow(config["host"])
            database.run(f"CREATE DATABASE {config['database']}")
            inside = type(database)(database.url.replace("/postgres", f"/{config['database']}"))
            sql = next(block.code for block in blocks(page("postgres")) if block.language == "sql")
            inside.run("CREATE TABLE decisions (id int, decision_id text, written timestamptz, outcome jsonb)")
            inside.run(*(statement for statement in sql.split(";") if statement.strip()))
            inside.run("INSERT INTO decisions VALUES (1, 'd-1', now(), NULL)")
            return {"port": database.port}, "…"

        def s3(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            cloud = s3_cloud(stack.enter_context(s3_server(config["region"])))
            return stored(cloud, config)

        def gcs(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            return stored(gcs_cloud(stack.enter_context(gcs_server(trusted.server_context("localhost")))), config)

        def azure_blob(config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            server = stack.enter_context(azurite())
            server.client.create_container("decisions")
            return stored(azure_cloud(server), config)

        def stored(cloud: Any, config: dict[str, Any]) -> tuple[dict[str, Any], str]:
            cloud.put(f"{config['prefix']}a.json", RECORD)
            return cloud.config, cloud.secret

        def allow(host: str) -> None:
            settings.ALLOWED_PRIVATE_HOSTS = [host, "localhost"]
            resolver[host] = [["127.0.0.1"]]

        yield locals()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_example_reads_what_it_says(kind: str, world: Any) -> None:
    config = example(kind)["config"]
    there, secret = world[kind](config)
    (raw,) = Reader(kinds.kind(kind), {**config, **there}, secret).poll()
    assert json.loads(raw)["decision_id"] == "d-1"

"""Object storage of each cloud: objects are read whole and once, with the given credentials only."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from connectors import kinds
from connectors.kinds import named_items, object_storage
from tests.support.azurite import ACCOUNT, Azurite, azurite
from tests.support.certificates import Authority
from tests.support.gcs_server import Bucket, GcsServer, gcs_server
from tests.support.reader import Reader
from tests.support.s3_server import S3Server, s3_server
from tests.support.web_server import Reply, WebServer, json_reply

pytestmark = [pytest.mark.once, pytest.mark.slow]


@dataclass
class Cloud:
    """The storage of one cloud with an empty container, and the secrets of several users."""

    kind: str
    config: dict[str, Any]
    put: Callable[[str, bytes], Any]
    delete: Callable[[str], Any]
    secret: str
    wrong: dict[str, str]
    """Secrets by the step at which they fail."""
    absent: dict[str, Any]
    """Settings that name a missing container."""
    secret_of_absent: str = ""
    names: set[str] = field(default_factory=set)

    def reader(self, secret: str | None = None, **config: Any) -> Reader:
        return Reader(kinds.kind(self.kind), {**self.config, **config}, self.secret if secret is None else secret)


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(scope="module")
def gcs(authority: Authority) -> Iterator[GcsServer]:
    with gcs_server(authority.server_context("localhost")) as server:
        yield server


@pytest.fixture(scope="module")
def azure() -> Iterator[Azurite]:
    with azurite() as server:
        server.client.create_container("decisions")
        yield server


def s3_cloud(server: S3Server) -> Cloud:
    for entry in server.client.list_objects_v2(Bucket="decisions").get("Contents", ()):
        server.client.delete_object(Bucket="decisions", Key=entry["Key"])
    return Cloud(
        "s3",
        {"bucket": "decisions", "endpoint": f"http://localhost:{server.port}"},
        put=lambda name, body: server.client.put_object(Bucket="decisions", Key=name, Body=body),
        delete=lambda name: server.client.delete_object(Bucket="decisions", Key=name),
        secret=server.secret,
        wrong={"signed in": server.secret[:-4] + "xxxx", "listed": server.powerless},
        absent={"bucket": "absent"},
        secret_of_absent=server.root,
    )


def gcs_cloud(server: GcsServer) -> Cloud:
    server.buckets = {"decisions": Bucket()}
    powerless, stranger = server.service_account("powerless"), server.service_account("stranger")
    key = server.reader("reader")
    stranger["client_email"] = key["client_email"]
    return Cloud(
        "gcs",
        {"bucket": "decisions", "endpoint": server.url},
        put=lambda name, body: server.put("decisions", name, body),
        delete=lambda name: server.buckets["decisions"].pop(name),
        secret=json.dumps(key),
        wrong={"signed in": json.dumps(stranger), "listed": json.dumps(powerless)},
        absent={"bucket": "absent"},
    )


def azure_cloud(server: Azurite) -> Cloud:
    from azure.storage.blob import generate_container_sas

    container = server.client.get_container_client("decisions")
    for blob in container.list_blob_names():
        container.delete_blob(blob)
    read_only = generate_container_sas(
        ACCOUNT, "decisions", account_key=server.key, permission="r", expiry=datetime.now(UTC) + timedelta(hours=1)
    )
    return Cloud(
        "azure_blob",
        {"account": ACCOUNT, "container": "decisions", "endpoint": server.endpoint},
        put=lambda name, body: container.upload_blob(name, body, overwrite=True),
        delete=lambda name: container.delete_blob(name),
        secret=server.key,
        wrong={"signed in": "eHh4" + server.key[4:], "listed": read_only},
        absent={"container": "absent"},
    )


@pytest.fixture(params=["s3", "gcs", "azure"])
def cloud(request: pytest.FixtureRequest, trusted: Authority) -> Cloud:
    make = {"s3": s3_cloud, "gcs": gcs_cloud, "azure": azure_cloud}[request.param]
    return make(request.getfixturevalue(request.param))


def lines(*numbers: int) -> bytes:
    return b"".join(b'{"decision_id": "d-%d"}\n' % number for number in numbers)


def items(*numbers: int) -> list[bytes]:
    return lines(*numbers).splitlines()


def test_objects_are_read_once_in_every_format(cloud: Cloud) -> None:
    cloud.put("a/1.ndjson", lines(1, 2))
    cloud.put("a/2 ü+%.json", b'{"decision_id": "d-3"}')
    cloud.put("a/3.json.gz", gzip.compress(b'[{"decision_id": "d-4"}]'))
    cloud.put("a/4.empty", b"")
    cloud.put("b/5.ndjson", lines(5))
    reader = cloud.reader(prefix="a/")
    assert reader.poll() == items(1, 2, 3, 4)
    assert [step.name for step in reader.steps if step.name != "secret"][:4] == [
        "address", "connection", "signed in", "listed",
    ]  # fmt: skip
    assert reader.poll() == []
    assert len(reader.ledger) == 4


def test_an_object_that_arrives_before_the_others_in_order_is_read(cloud: Cloud) -> None:
    cloud.put("m", lines(1))
    reader = cloud.reader()
    reader.poll()
    cloud.put("a", lines(2))
    assert reader.poll() == items(2)


def test_a_rewritten_object_is_read_again(cloud: Cloud) -> None:
    cloud.put("a", lines(1))
    reader = cloud.reader()
    reader.poll()
    cloud.put("a", lines(1, 2))
    assert reader.poll() == items(1, 2)


def test_a_large_object_is_read_in_parts_and_over_several_polls(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_storage, "PART_BYTES", 1000)
    cloud.put("a", lines(*range(1200)))
    reader = cloud.reader()
    assert reader.poll(max_batches=1) == items(*range(500))
    assert reader.poll() == items(*range(500, 1200))
    assert reader.poll() == []


def test_an_object_that_changes_while_it_is_read_is_read_again(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_storage, "PART_BYTES", 20_000)
    cloud.put("a", lines(*range(10_000)))
    reader = cloud.reader()
    reading = reader.kind.read(reader.source(), {})
    first = next(reading)
    cloud.put("a", lines(*range(3000, 5000)))
    with pytest.raises(kinds.SourceFault, match="changed while it was"):
        list(reading)
    reader.cursor = first.cursor
    assert reader.poll() == items(*range(3000, 5000))


def test_an_object_deleted_after_the_listing_is_skipped(cloud: Cloud) -> None:
    for name in "ab":
        cloud.put(name, lines(1))
    reader = cloud.reader()
    reading = reader.kind.read(reader.source(batch_items=1), {})
    first = next(reading)
    cloud.delete("b")
    assert [item.raw for batch in [first, *reading] for item in batch.items] == items(1)


def test_a_listing_of_several_pages_is_gone_through_over_several_polls(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(23):
        cloud.put(f"{number:04}", lines(number))
    monkeypatch.setattr(named_items, "BATCH_LEDGER", 9)
    reader = cloud.reader()
    records: list[bytes] = []
    for _ in range(6):
        records += reader.poll(max_batches=1)
    assert records == items(*range(23))


def test_each_wrong_secret_names_its_step_and_is_not_repeated(cloud: Cloud) -> None:
    cloud.put("a", lines(1))
    for step, secret in cloud.wrong.items():
        reader = cloud.reader(secret)
        fault = reader.fault()
        assert (reader.failed.name, fault.cause) == (step, "config"), fault.sentence
        assert secret not in fault.sentence + fault.fix + str(fault)


def test_a_secret_of_another_shape_or_none_says_what_belongs_there(cloud: Cloud) -> None:
    for secret, steps in (("nonsense", {"signed in", "listed"}), ("", {"secret"})):
        reader = cloud.reader(secret)
        fault = reader.fault()
        assert reader.failed.name in steps
        assert fault.cause == "config"
        assert fault.fix


def test_a_container_that_is_not_there_names_its_step(cloud: Cloud) -> None:
    reader = cloud.reader(cloud.secret_of_absent or None, **cloud.absent)
    fault = reader.fault()
    assert (reader.failed.name, fault.cause) == ("listed", "config")
    assert "There is no" in fault.sentence


def test_a_private_endpoint_is_refused(cloud: Cloud, settings: Any) -> None:
    settings.ALLOWED_PRIVATE_HOSTS = []
    reader = cloud.reader()
    reader.fault()
    assert (reader.failed.name, "ALLOWED_PRIVATE_HOSTS" in reader.failed.fix) == ("address", True)


def test_the_name_of_an_endpoint_is_looked_up_once(cloud: Cloud, resolver: dict[str, list[list[str]]]) -> None:
    cloud.put("a", lines(1))
    resolver["localhost"] = [["127.0.0.1"], ["10.0.0.1"], ["10.0.0.1"]]
    assert cloud.reader().poll() == items(1)
    assert len(resolver["localhost"]) == 2


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"endpoint": "ftp://host"}, "endpoint: "),
        ({"endpoint": "https://user:pass@host"}, "endpoint: "),
        ({"endpoint": "https://host/?sig=abc"}, "endpoint: "),
        ({"bucket": "a/../b", "container": "a/../b"}, ""),
        ({"bucket": "evil.example.org#", "container": "evil.example.org#"}, ""),
    ],
)
def test_settings_that_cannot_work_are_problems(cloud: Cloud, config: dict[str, str], problem: str) -> None:
    kind = kinds.kind(cloud.kind)
    known = {name: value for name, value in config.items() if name in kind.Config.model_fields}
    (sentence,) = kind.check(kind.Config.model_validate({**cloud.config, **known}))
    assert sentence.startswith(problem)
    assert kind.check(cloud.reader().config) == []


@pytest.mark.parametrize(
    "config",
    [
        {"region": "eu-west-1.evil.example.org/"},
        {"region": ""},
        {"region": "eu-west-1", "role_arn": "arn:aws:iam::1:user/x"},
    ],
)
def test_a_region_and_a_role_are_checked_before_they_become_a_host(config: dict[str, str]) -> None:
    kind = kinds.kind("s3")
    assert len(kind.check(kind.Config.model_validate({"bucket": "decisions", **config}))) == 1


FAULTS = pytest.mark.parametrize(
    ("reply", "cause", "word"),
    [
        (json_reply({}, 503, Retry_After="9"), "transient", "retried"),
        (json_reply({}, 500), "transient", "retried"),
        (Reply(b"<html>surprise", 200), "", ""),
        (Reply(b"", 302, {"Location": "http://127.0.0.1:1/"}), "config", ""),
        (Reply(b" " * 1000, 200, {"Content-Length": "2000"}), "transient", ""),
    ],
)


@FAULTS
def test_an_internal_error_of_the_storage_is_retried_later_or_named(
    cloud: Cloud, serve: Callable[..., WebServer], reply: Reply, cause: str, word: str
) -> None:
    server = serve(lambda request: reply)
    reader = cloud.reader(endpoint=server.url)
    fault = reader.fault(seconds=3)
    assert not cause or fault.cause == cause or cloud.kind == "gcs", fault.sentence
    assert word in fault.fix
    assert reader.failed
    assert all(request.path != "/latest/meta-data" for request in server.requests)


def test_an_answer_without_end_is_refused(cloud: Cloud, serve: Callable[..., WebServer]) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * 2**16

    server = serve(lambda _: Reply(endless(), headers={"Content-Type": "application/xml"}))
    fault = cloud.reader(endpoint=server.url).fault(seconds=20)
    assert fault.cause in ("config", "transient")


def test_credentials_of_the_process_are_not_used(
    cloud: Cloud, s3: S3Server, azure: Azurite, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    access, key = s3.root.split(":")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", access)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key)
    monkeypatch.setenv("AWS_PROFILE", "operator")
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"AccountName={ACCOUNT};AccountKey={azure.key}")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
    reader = cloud.reader("")
    assert reader.fault().cause == "config"
    assert reader.failed.name == "secret"
    cloud.put("a", lines(1))
    assert cloud.reader().poll() == items(1)


def test_other_credentials_than_a_service_account_are_refused(gcs: GcsServer, trusted: Authority) -> None:
    cloud = gcs_cloud(gcs)
    external = {"type": "external_account", "credential_source": {"file": "/etc/passwd"}, "token_url": gcs.url}
    reader = cloud.reader(json.dumps(external))
    assert "service account" in reader.fault().sentence
    elsewhere = {**json.loads(cloud.secret), "token_uri": "http://169.254.169.254/token"}
    assert cloud.reader(json.dumps(elsewhere)).fault().sentence.startswith("This host is not on the public internet")


def test_a_marker_that_is_good_no_more_begins_a_new_pass(azure: Azurite, trusted: Authority) -> None:
    cloud = azure_cloud(azure)
    cloud.put("a", lines(1))
    reader = cloud.reader()
    reader.cursor = {"page": "no such marker"}
    reader.poll()
    assert reader.poll() == [] or reader.ledger

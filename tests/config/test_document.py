"""`/v1/openapi.json` is the committed document, generated once a process."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from config.http import document
from tests.databases import CHECKOUT
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PATH = "/v1/openapi.json"


@pytest.fixture(autouse=True)
def _nothing_made_yet() -> Iterator[None]:
    document._document.cache_clear()
    yield
    document._document.cache_clear()


def test_it_is_the_committed_document(client: Client):
    assert client.get(PATH).json() == json.loads((CHECKOUT / "docs/openapi.json").read_text())


def test_it_is_generated_once(client: Client, monkeypatch: pytest.MonkeyPatch):
    made, make = [], SchemaGenerator.get_schema

    def counted(self: SchemaGenerator, *args: Any, **kwargs: Any) -> Any:
        made.append(self)
        return make(self, *args, **kwargs)

    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    answers = [client.get(PATH + query) for query in ("", "", "?lang=de", "?version=2")]
    assert len({answer.content for answer in answers}) == 1
    assert len(made) == 1


def test_an_unchanged_document_is_not_sent_again(client: Client):
    first = client.get(PATH)
    again = client.get(PATH, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert client.get(PATH, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("kind", ["application/json", "application/vnd.oai.openapi+json"])
def test_it_has_the_requested_media_type(client: Client, kind: str):
    assert client.get(PATH, headers={"Accept": kind})["Content-Type"] == kind


def test_concurrent_first_requests_all_get_it(client: Client):
    answers = at_once(8, lambda _: Client().get(PATH))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.content for answer in answers} == {client.get(PATH).content}

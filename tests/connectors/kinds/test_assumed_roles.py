"""Assumed roles: only a role that requires the organization's external id is used."""

from collections.abc import Callable
from typing import Any

import pytest

from connectors import kinds
from tests.connectors.kinds.test_object_storage import cloud, items, lines, s3, s3_cloud
from tests.support.certificates import Authority
from tests.support.reader import Reader
from tests.support.s3_server import S3Server
from tests.support.web_server import Reply, WebServer

__all__ = ["cloud", "s3"]
pytestmark = pytest.mark.once


class Sts:
    """A security token service that knows one role of another account and its condition."""

    def __init__(self, external_id: str, s3: S3Server, *, is_open: bool = False) -> None:
        self.external_id, self.is_open = external_id, is_open
        self.key = s3.secret.split(":")

    def answer(self, request: Any) -> Reply:
        from urllib.parse import parse_qs

        form = parse_qs(request.body.decode())
        assert "Credential=AKIAOPERATOR/" in request.headers["Authorization"]
        if form.get("ExternalId") != [self.external_id] and not self.is_open:
            error = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>"
            return Reply(error.encode(), 403)
        access, key = self.key
        answer = (
            "<AssumeRoleResponse><AssumeRoleResult><Credentials>"
            f"<AccessKeyId>{access}</AccessKeyId><SecretAccessKey>{key}</SecretAccessKey>"
            "<SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>"
            "</Credentials></AssumeRoleResult></AssumeRoleResponse>"
        )
        return Reply(answer.encode())


@pytest.fixture
def assumed(
    s3: S3Server, serve: Callable[..., WebServer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Reader, WebServer]]:
    """Return a function that makes a connector with a role, and the token service for that role."""

    def make(*, is_open: bool = False, external_id: str = "") -> tuple[Reader, WebServer]:
        config = {"bucket": "decisions", "region": "us-east-1", "role_arn": "arn:aws:iam::123456789012:role/reader"}
        reader = Reader(kinds.kind("s3"), config)
        server = serve(Sts(external_id or str(reader.organization_id), s3, is_open=is_open).answer, encrypted=False)
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", server.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAOPERATOR")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "operator")
        return reader, server

    return make


def test_a_role_is_assumed_with_the_organization_as_external_id(
    assumed: Callable[..., tuple[Reader, WebServer]], s3: S3Server, trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    from config.clouds import aws

    cloud = s3_cloud(s3)
    cloud.put("a", lines(1))
    reader, server = assumed()
    given = []
    real = aws.s3
    monkeypatch.setattr(
        aws,
        "s3",
        lambda net, credentials, **other: (
            given.append(credentials)
            or real(net, credentials._replace(session_token=None), **{**other, "endpoint": cloud.config["endpoint"]})
        ),
    )
    assert reader.poll() == items(1)
    assert given[0].session_token == "t"
    assert len(server.requests) == 2


def test_a_role_of_another_organization_cannot_be_assumed(assumed: Callable[..., tuple[Reader, WebServer]]) -> None:
    reader, _ = assumed(external_id="another-organization")
    assert reader.fault().cause == "config"
    assert (reader.failed.name, "sts:ExternalId" in reader.failed.fix) == ("signed in", True)
    assert str(reader.organization_id) in reader.failed.fix


def test_a_role_that_does_not_insist_on_the_external_id_is_not_used(
    assumed: Callable[..., tuple[Reader, WebServer]],
) -> None:
    reader, server = assumed(is_open=True)
    assert "without its external id" in reader.fault().sentence
    assert len(server.requests) == 1

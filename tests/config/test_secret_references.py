"""A reference reads only files and variables that are meant as secrets."""

import os
import uuid
from pathlib import Path
from typing import Any

import pytest

from config import secret_references
from config.secret_references import ReferenceRefused, SecretUnavailable

US, THEM = uuid.UUID(int=1), uuid.UUID(int=2)


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.SECRETS_DIR = tmp_path / "secrets"
    settings.SECRETS_DIR.mkdir()
    return settings.SECRETS_DIR


def test_a_secret_is_read_from_the_current_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRS_SECRET_FEED", "one")
    assert secret_references.resolve("env:DRS_SECRET_FEED", US) == "one"
    monkeypatch.setenv("DRS_SECRET_FEED", "two")
    assert secret_references.resolve("env:DRS_SECRET_FEED", US) == "two"


@pytest.mark.parametrize("written", ["s3cret", "s3cret\n", "s3cret\r\n"])
def test_a_secret_is_read_from_a_file_without_its_line_end(folder: Path, written: str) -> None:
    (folder / "feed.token").write_bytes(written.encode())
    assert secret_references.resolve("file:feed.token", US) == "s3cret"


@pytest.mark.parametrize(
    "reference",
    [
        "", "env:", "file:", "s3cret", "env:PATH", "env:SECRET_KEY", "env:MASTER_KEY", "env:DRS_SECRET_",
        "env:drs_secret_x", "env:DRS_SECRET_X\n", "env:DRS_SECRET_X=1", " env:DRS_SECRET_X", "ENV:DRS_SECRET_X",
        "env:DRS_SECRET_É", "file:../keys/secret_key", "file:/etc/passwd", "file:..", "file:.", "file:.hidden",
        "file:a/b", "file:a\\b", "file:a\x00b", "file:a\n", "file:%2e%2e", "file:" + "a" * 200,
        "aws-secretsmanager:name", "http://host/x",
    ],
)  # fmt: skip
def test_a_reference_to_anything_else_is_refused(folder: Path, reference: str) -> None:
    with pytest.raises(ReferenceRefused):
        secret_references.require_allowed(reference)
    with pytest.raises(ReferenceRefused):
        secret_references.resolve(reference, US)


def test_a_file_in_an_organization_s_folder_is_private_and_takes_precedence(folder: Path) -> None:
    (folder / "token").write_text("everybody's")
    (folder / str(US)).mkdir()
    (folder / str(US) / "token").write_text("ours")
    (folder / str(US) / "other").write_text("ours alone")
    assert secret_references.resolve("file:token", US) == "ours"
    assert secret_references.resolve("file:token", THEM) == "everybody's"
    assert secret_references.resolve("file:other", US) == "ours alone"
    for reference in ("file:other", f"file:{US}"):
        with pytest.raises(SecretUnavailable):
            secret_references.resolve(reference, THEM)


def test_an_unusable_file_of_an_organization_does_not_fall_back_to_the_shared_one(folder: Path, tmp_path: Path) -> None:
    (folder / "token").write_text("everybody's")
    (folder / str(US)).mkdir()
    (folder / str(US) / "token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SecretUnavailable):
        secret_references.resolve("file:token", US)


def test_an_unreadable_folder_of_an_organization_does_not_fall_back_to_the_shared_one(folder: Path) -> None:
    (folder / "token").write_text("everybody's")
    (folder / str(US)).write_text("no folder")
    with pytest.raises(SecretUnavailable):
        secret_references.resolve("file:token", US)


def test_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("not for references")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SecretUnavailable):
        secret_references.resolve("file:link", US)


def test_an_unusable_secret_is_unavailable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "empty").write_bytes(b"\n")
    (folder / "binary").write_bytes(b"\xff\xfe")
    (folder / "large").write_bytes(b"x" * (2**16 + 1))
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    monkeypatch.setenv("DRS_SECRET_EMPTY", "")
    for reference in ["file:gone", *(f"file:{file.name}" for file in folder.iterdir()),
                      "env:DRS_SECRET_EMPTY", "env:DRS_SECRET_GONE"]:  # fmt: skip
        with pytest.raises(SecretUnavailable):
            secret_references.resolve(reference, US)


def test_no_refusal_repeats_the_reference_or_the_secret(folder: Path) -> None:
    """A user may have pasted the secret instead of a reference."""
    (folder / "large").write_bytes(b"canary" * 2**16)
    for reference in ["canary-pasted-secret", "file:large"]:
        with pytest.raises(secret_references.DomainError) as refused:
            secret_references.resolve(reference, US)
        assert "canary" not in f"{refused.value} {refused.value.sentence}"
        assert refused.value.__cause__ is None

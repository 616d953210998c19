"""The demo: an organization with two people and a key, to which each app adds its part."""

import os
import re
import socket

import pytest
from django.core.management import CommandError, call_command

from accounts import demo
from accounts.models import ApiKey, Member, Organization
from connectors.demo import poll_export
from decisions.demo import ingest_samples
from notices.demo import draft_notices

pytestmark = pytest.mark.django_db


@pytest.fixture
def steps(monkeypatch, settings, tmp_path):
    """Replace the steps of apps by two that record their calls, so that no sample is loaded."""
    settings.DATA_DIR = tmp_path
    calls = []
    monkeypatch.setattr(demo, "_STEPS", [])
    for name in ("first", "second"):
        demo.register_step(lambda organization, name=name: calls.append((name, organization.slug)))
    return calls


def test_apps_add_their_parts_in_the_order_of_their_layers():
    assert [ingest_samples, poll_export, draft_notices] == demo._STEPS


def test_an_empty_installation_gets_an_organization_two_people_a_key_and_every_step(steps, capsys):
    call_command("demo")
    assert steps == [("first", "demo"), ("second", "demo")]
    assert sorted(Member.objects.values_list("user__email", "role")) == [
        (demo.OPERATOR, "approver"),
        (demo.OWNER, "owner"),
    ]
    shown = capsys.readouterr().out
    assert demo.OWNER in shown
    assert f"Bearer {(demo.settings.DATA_DIR / 'demo_api_key').read_text()}" in shown


def test_a_second_run_asks_every_step_again_and_adds_nothing_itself(steps, capsys):
    call_command("demo")
    first = capsys.readouterr().out
    call_command("demo")
    assert capsys.readouterr().out == first
    assert steps == [("first", "demo"), ("second", "demo")] * 2
    assert (Organization.objects.count(), Member.objects.count(), ApiKey.objects.count()) == (1, 2, 1)


@pytest.mark.parametrize("given", [{}, {"BASE_URL": "http://drs.example"}])
def test_run_prints_its_port_in_every_address_unless_base_url_is_set(steps, settings, monkeypatch, capsys, given):
    settings.BASE_URL = given.get("BASE_URL", "http://127.0.0.1:8000")
    inherited = {name: value for name, value in os.environ.items() if name != "BASE_URL"}
    monkeypatch.setattr(os, "environ", inherited | given)
    with socket.create_server(("127.0.0.1", 0)) as other:  # `run` ends where it would serve
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match="is in use"):
            call_command("run", port=port)
    assert set(re.findall(r"http://[\w.:]+", capsys.readouterr().out)) == {
        given.get("BASE_URL", f"http://127.0.0.1:{port}")
    }


def test_an_installation_with_other_organizations_is_left_alone(steps, organization, capsys):
    call_command("demo")
    assert steps == []
    assert "with the organizations it has" in capsys.readouterr().out
    assert list(Organization.objects.all()) == [organization]
    assert not ApiKey.objects.exists()

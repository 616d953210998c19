"""The guides to customers' clouds: each statement of a policy is needed by the checks that the guide names."""

import json
import re
from collections.abc import Callable
from importlib import import_module

import pytest

from custody import clouds
from custody.clouds import proving
from tests.docs.documents import CHECKOUT, blocks, first_column, section, text

PROVIDERS = clouds.PROVIDERS


def _page(provider: str) -> str:
    return f"docs/custody/{provider}.md"


def _json_blocks(provider: str) -> list[dict]:
    return [json.loads(block.code) for block in blocks(CHECKOUT / _page(provider)) if block.language == "json"]


def _aws() -> dict[str, set[str]]:
    _trust, policy = [block for block in _json_blocks("aws") if "Statement" in block]
    statements = {statement["Sid"]: statement["Action"] for statement in policy["Statement"]}
    return {name: {actions} if isinstance(actions, str) else set(actions) for name, actions in statements.items()}


def _gcp() -> dict[str, set[str]]:
    shell = "".join(block.code for block in blocks(CHECKOUT / _page("gcp")) if block.language == "sh")
    created = re.findall(r"roles create (\w+) .*?--permissions=(\S+)", shell.replace("\\\n", ""))
    return {name: set(permissions.split(",")) for name, permissions in created}


def _azure() -> dict[str, set[str]]:
    roles = [block for block in _json_blocks("azure") if "Actions" in block]
    return {role["Name"]: {*role["Actions"], *role["DataActions"]} for role in roles}


POLICIES: dict[str, Callable[[], dict[str, set[str]]]] = {"aws": _aws, "gcp": _gcp, "azure": _azure}


def _needed(provider: str) -> dict[str, set[str]]:
    """Return the permissions of each check: its own, and those of vaults and keys that it covers."""
    permissions = {check.id: {check.permission, *check.covers} - {""} for check in proving.questions(provider)}
    return {name: needed for name, needed in permissions.items() if needed}


def _named(provider: str) -> dict[str, set[str]]:
    """Return the checks that the table names for each statement."""
    rows = re.findall(r"^\| `([^`]+)`[^|]*\| ([^|]*) \|", section(_page(provider), "The policy"), re.MULTILINE)
    return {statement: set(re.findall(r"`(\w+)`", checks)) for statement, checks in rows}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_policy_allows_exactly_the_permissions_that_checks_need(provider: str):
    allowed = set().union(*POLICIES[provider]().values())
    assert allowed == set().union(*_needed(provider).values())
    assert not [action for action in allowed if "*" in action]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_checks_cover_all_permissions_of_vaults_and_keys(provider: str):
    module = import_module(f"custody.clouds.{provider}.configuration")
    named = {name: getattr(module, name) for name in dir(module) if name.endswith("_PERMISSIONS")}
    assert {"STORAGE_PERMISSIONS", "WRAPPING_PERMISSIONS", "SIGNING_PERMISSIONS"} <= set(named)
    assert set().union(*named.values()) <= set().union(*_needed(provider).values())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_statement_names_the_checks_that_need_it(provider: str):
    policy, tied, needed = POLICIES[provider](), _named(provider), _needed(provider)
    assert set(tied) == set(policy)
    for statement, actions in policy.items():
        assert actions <= set().union(*(needed[check] for check in tied[statement])), statement
    for check, permissions in needed.items():
        theirs = [policy[statement] for statement, checks in tied.items() if check in checks]
        assert permissions <= set().union(*theirs), check


@pytest.mark.parametrize("provider", PROVIDERS)
def test_exactly_the_existing_checks_and_settings_are_explained(provider: str):
    checks = first_column(section(_page(provider), "Checks"))
    assert checks == list(dict.fromkeys(checks))
    assert set(checks) == {check.id for check in proving.questions(provider)}
    assert set(first_column(section(_page(provider), "Settings"))) == set(clouds.of(provider).model_fields)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_example_is_a_valid_configuration(provider: str):
    (example,) = [block for block in _json_blocks(provider) if "provider" in block]
    assert example["provider"] == provider
    clouds.checked(provider, example["config"])


def test_the_guide_names_the_fields_of_a_check():
    documented = list(first_column(section("docs/custody/README.md", "The test")))
    assert documented == list(proving.Check.__dataclass_fields__)
    assert "](keys.svg)" in text("docs/custody/README.md")

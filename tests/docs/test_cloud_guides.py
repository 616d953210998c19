"""The guides to customers' clouds: each statement of a policy belongs to the checks that need it, and none is idle."""

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
    _trust, policy = [each for each in _json_blocks("aws") if "Statement" in each]
    actions = {each["Sid"]: each["Action"] for each in policy["Statement"]}
    return {name: {found} if isinstance(found, str) else set(found) for name, found in actions.items()}


def _gcp() -> dict[str, set[str]]:
    shell = "".join(block.code for block in blocks(CHECKOUT / _page("gcp")) if block.language == "sh")
    created = re.findall(r"roles create (\w+) .*?--permissions=(\S+)", shell.replace("\\\n", ""))
    return {name: set(permissions.split(",")) for name, permissions in created}


def _azure() -> dict[str, set[str]]:
    roles = [each for each in _json_blocks("azure") if "Actions" in each]
    return {each["Name"]: {*each["Actions"], *each["DataActions"]} for each in roles}


POLICIES: dict[str, Callable[[], dict[str, set[str]]]] = {"aws": _aws, "gcp": _gcp, "azure": _azure}


def _needed(provider: str) -> dict[str, set[str]]:
    """By check, what it needs itself, and what vaults and keys need of which it speaks."""
    asked = {each.id: {each.permission, *each.covers} - {""} for each in proving.questions(provider)}
    return {name: needed for name, needed in asked.items() if needed}


def _named(provider: str) -> dict[str, set[str]]:
    """By statement, the checks that the table ties it to."""
    rows = re.findall(r"^\| `([^`]+)`[^|]*\| ([^|]*) \|", section(_page(provider), "The policy"), re.MULTILINE)
    return {statement: set(re.findall(r"`(\w+)`", checks)) for statement, checks in rows}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_policy_allows_what_checks_vaults_and_keys_need_and_no_more(provider: str):
    allowed = set().union(*POLICIES[provider]().values())
    assert allowed == set().union(*_needed(provider).values())
    assert not [action for action in allowed if "*" in action]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_vaults_and_keys_need_nothing_that_no_check_speaks_for(provider: str):
    module = import_module(f"custody.clouds.{provider}.configuration")
    named = {name: getattr(module, name) for name in dir(module) if name.endswith("_PERMISSIONS")}
    assert {"STORAGE_PERMISSIONS", "WRAPPING_PERMISSIONS", "SIGNING_PERMISSIONS"} <= set(named)
    assert set().union(*named.values()) <= set().union(*_needed(provider).values())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_statement_is_tied_to_the_checks_that_need_it(provider: str):
    policy, tied, needed = POLICIES[provider](), _named(provider), _needed(provider)
    assert set(tied) == set(policy)
    for statement, actions in policy.items():
        assert actions <= set().union(*(needed[check] for check in tied[statement])), statement
    for check, permissions in needed.items():
        theirs = [policy[statement] for statement, checks in tied.items() if check in checks]
        assert permissions <= set().union(*theirs), check


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_check_and_every_setting_is_explained_and_no_other(provider: str):
    checks = first_column(section(_page(provider), "Checks"))
    assert checks == list(dict.fromkeys(checks))
    assert set(checks) == {each.id for each in proving.questions(provider)}
    assert set(first_column(section(_page(provider), "Settings"))) == set(clouds.of(provider).model_fields)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_example_is_a_good_configuration(provider: str):
    (example,) = [each for each in _json_blocks(provider) if "provider" in each]
    assert example["provider"] == provider
    clouds.checked(provider, example["config"])


def test_the_check_has_the_names_that_are_told():
    told = list(first_column(section("docs/custody/README.md", "The test")))
    assert told == list(proving.Check.__dataclass_fields__)
    assert "](keys.svg)" in text("docs/custody/README.md")

"""Settings that a cloud's configuration may have, and the problems of others."""

from typing import Any

import pytest

from custody import clouds
from custody.clouds import ConfigurationRefused

SMALLEST = {
    "aws": {"bucket": "records", "region": "eu-central-1", "secret_ref": "env:DRS_SECRET_AWS"},
    "gcp": {"bucket": "records", "secret_ref": "env:DRS_SECRET_GCP"},
    "azure": {"account": "bankrecords", "container": "records", "secret_ref": "env:DRS_SECRET_AZURE"},
}
KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"


def problems(provider: str, **other: str) -> list[str]:
    try:
        clouds.checked(provider, {**SMALLEST[provider], **other})
    except ConfigurationRefused as refused:
        return refused.problems
    return []


@pytest.mark.parametrize("provider", clouds.PROVIDERS)
def test_the_smallest_configuration_is_valid_and_an_empty_value_counts_as_missing(provider: str) -> None:
    assert problems(provider, prefix="") == []


@pytest.mark.parametrize("provider", clouds.PROVIDERS)
def test_each_missing_unknown_or_wrong_setting_has_a_sentence_without_the_value(provider: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        clouds.checked(provider, {"pasword": "hunter2", "endpoint": "https://user:hunter2@storage.example"})
    problems = refused.value.problems
    assert "pasword: There is no such setting." in problems
    assert any(problem.startswith("endpoint: ") for problem in problems)
    assert {problem for problem in problems if "required" in problem} == {
        f"{name}: This setting is required." for name in SMALLEST[provider] if (provider, name) != ("aws", "secret_ref")
    }
    assert "hunter2" not in str(problems)


@pytest.mark.parametrize(
    "key", [KEY, f"arn:aws:kms:eu-central-1:123456789012:key/{KEY}", "alias/records", "alias/awsome", "mrk-" + "0" * 32]
)
def test_a_customers_key_may_be_named_by_arn_id_or_alias(key: str) -> None:
    assert problems("aws", kms_key=key, signing_key=key) == []


@pytest.mark.parametrize(
    "key", ["alias/aws/s3", "arn:aws:kms:eu-central-1:123456789012:alias/aws/s3", "s3", KEY + "\n"]
)
def test_a_key_that_amazon_manages_is_refused_because_describing_it_can_create_it(key: str) -> None:
    assert len(problems("aws", kms_key=key)) == 1


KEY_OF_GCP = "projects/bank-1/locations/europe-west3/keyRings/ring/cryptoKeys/records"


def test_credentials_must_be_named_completely() -> None:
    without = {"bucket": "records", "region": "eu-central-1"}
    with pytest.raises(ConfigurationRefused, match="Set secret_ref, or role_arn"):
        clouds.checked("aws", without)
    clouds.checked("aws", {**without, "role_arn": "arn:aws:iam::123456789012:role/records"})
    assert problems("azure", tenant_id="bank.example") == ["Set tenant_id and client_id together."]


BAD: list[tuple[str, dict[str, str]]] = [
    ("aws", {"prefix": "/records"}),
    ("aws", {"prefix": "a//b"}),
    ("aws", {"role_arn": "arn:aws:iam::1:role/x"}),
    ("aws", {"secret_ref": "AKIA:secret"}),
    ("gcp", {"kms_key": KEY_OF_GCP + "/../other"}),
    ("gcp", {"kms_key": KEY_OF_GCP + "/cryptoKeyVersions/1"}),
    ("gcp", {"signing_key": KEY_OF_GCP}),
    ("azure", {"kms_key": "http://bank.vault.azure.net/keys/records"}),
    ("azure", {"kms_key": "https://bank.vault.azure.net/secrets/records"}),
    ("azure", {"kms_key": "https://bank.vault.azure.net/keys/a?api-version=1"}),
    ("azure", {"client_id": "../x"}),
]


@pytest.mark.parametrize(("provider", "other"), BAD, ids=lambda value: str(value)[:60])
def test_a_malformed_value_is_refused(provider: str, other: dict[str, Any]) -> None:
    assert len(problems(provider, **other)) == 1


@pytest.mark.parametrize("provider", clouds.PROVIDERS)
@pytest.mark.parametrize("prefix", ["..", ".", "../other", "a/../../other/b", "a/./b", "a/..", "../"])
def test_no_prefix_leads_out_of_the_tested_bucket(provider: str, prefix: str) -> None:
    assert len(problems(provider, prefix=prefix)) == 1
    assert problems(provider, prefix="..a/b../.c/d./...") == []

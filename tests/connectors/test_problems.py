"""Problems of settings, each described once in plain words."""

from connectors import sources


def problems(kind, **config):
    return sources.check(kind, config, "").problems


def test_missing_and_unknown_settings_are_named_in_plain_words():
    assert problems("http_json", colour="red", since={"parameter": "after"}) == [
        "config.url: This setting is required.",
        "config.since.field: This setting is required.",
        "config.colour: There is no such setting.",
    ]


def test_a_setting_that_was_not_stored_is_not_asked_for_too():
    assert problems("http_json", url="https://user:pass@example.org/") == [
        "config.url: this looks like a secret, so it was not stored. Store it as a secret and reference it in "
        "secret_ref. Expected: the token, sent as Authorization: Bearer … or where a header says {secret}."
    ]
    (problem,) = problems("directory", path="/srv", password="hunter2")[:1]
    assert problem.endswith("so it was not stored. Remove it.")


def test_a_wrong_name_is_called_that_of_a_bucket_or_container():
    assert problems("s3", bucket="A B", region="eu-central-1") == ["bucket: Not a valid bucket name."]
    assert problems("s3", bucket="decisions", region="EU") == ["region: Not a valid region."]
    assert problems("azure_blob", account="bank", container="A B") == ["container: Not a valid container name."]

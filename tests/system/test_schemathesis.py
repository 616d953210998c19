"""Thousands of generated requests, valid and invalid: every answer agrees with the OpenAPI document."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.databases import CHECKOUT
from tests.system.live import server

EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "3")  # a thousand take half an hour

CONFIG = """
hooks = "tests.system.schemathesis_hooks"

[[operations]]
# The document allows any text as a cursor, the service only a cursor that it issued.
include-operation-id-regex = "^(list_|get_notice_history$)"
checks.positive_data_acceptance.enabled = false

[[operations]]
# The document allows any object as a record, the service only one with a decision_id.
include-operation-id = "ingest_srf"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A grant is for a member's address, and elements are those of the notice's pack: no schema can know either.
include-operation-id-regex = "^(grant_authority|set_notice_exemptions)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# No schema describes the lines of an upload, the order of times, or that a field map must name the decision_id.
include-operation-id-regex = "^(check_completeness|preview_connector_map)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A document is text in another format, which its own schema describes.
include-operation-id = "import_mapping"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A key expires in the future and before the key that makes it: no schema says either.
include-operation-id = "create_api_key"
checks.positive_data_acceptance.enabled = false

[[operations]]
# Only its cloud knows whether a bucket exists and is suitable.
include-operation-id = "set_storage"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A hold has either an existing decision or a filter: no schema can express this.
include-operation-id = "place_hold"
checks.positive_data_acceptance.enabled = false

[[operations]]
# No schema can say that no field is on both lists of the settings, or which review request a letter answers.
include-operation-id-regex = "^(set_notice_settings|draft_notice)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A notice keeps its language, so another language is refused: no schema knows the notice's language.
include-operation-id = "edit_notice"
checks.positive_data_acceptance.enabled = false

[[operations]]
# An entry has the options of its meaning, a mapping selects records, and its version is the newest.
include-operation-id-regex = "^((create|confirm)_mapping|propose_mapping(_version)?|read_by_mapping)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# The languages depend on the pack, and the length of a recipient is limited by line.
include-operation-id = "preview_notice"
checks.positive_data_acceptance.enabled = false
"""


@pytest.mark.once  # test_bad_input covers both databases
def test_every_answer_to_a_generated_request_agrees_with_the_document(tmp_path: Path):
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    with server(ANONYMOUS_REQUESTS_PER_MINUTE="0", LOG_LEVEL="WARNING") as live:
        command = [
            Path(sys.executable).with_name("schemathesis"), "--config-file", tmp_path / "schemathesis.toml",
            "run", f"{live.base_url}/v1/openapi.json", "--header", f"Authorization: Bearer {live.key}",
            "--max-examples", EXAMPLES, "--generation-allow-x00", "false", "--generation-database", "none",
            "--continue-on-failure", "--no-color",
        ]  # fmt: skip
        environment = {"PYTHONPATH": str(CHECKOUT), "OWN_KEY_ID": live.key.split("_")[1]}
        done = subprocess.run(
            command, cwd=tmp_path, env=live.environment | environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        with live.client() as client:
            assert client.get("/v1/auth/me").status == 200, "a request has revoked the key, so the test is void"
    assert done.returncode == 0, done.stdout + done.stderr

"""Thousands of generated requests, right and wrong ones: the service does what its document says."""

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
# A cursor is any text to the document, and to the service one that it gave out.
include-operation-id-regex = "^(list_|get_notice_history$)"
checks.positive_data_acceptance.enabled = false

[[operations]]
# To the contract a record is any object; that it must have a decision_id, no schema there says.
include-operation-id = "ingest_srf"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A grant is for a member's address, and elements are those of the notice's pack: no schema can know either.
include-operation-id-regex = "^(grant_authority|set_notice_exemptions)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# Lines of an upload and the order of times no schema knows, nor that a field map must say where the decision_id is.
include-operation-id-regex = "^(check_completeness|preview_connector_map)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A key expires in the future and before the key that makes it: no schema says either.
include-operation-id = "create_api_key"
checks.positive_data_acceptance.enabled = false

[[operations]]
# Whether a bucket is there and good, only its cloud knows.
include-operation-id = "set_storage"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A hold is on a decision or by a filter, and on one that is there: no schema says either.
include-operation-id = "place_hold"
checks.positive_data_acceptance.enabled = false

[[operations]]
# That no field stands on both lists of the settings, and which request for review a letter answers, no schema says.
include-operation-id-regex = "^(set_notice_settings|draft_notice)$"
checks.positive_data_acceptance.enabled = false

[[operations]]
# A notice keeps its language; that another one is refused, no schema says, for the language is the notice's own.
include-operation-id = "edit_notice"
checks.positive_data_acceptance.enabled = false

[[operations]]
# Which languages there are is the pack's to say, and how long a recipient may be goes by lines.
include-operation-id = "preview_notice"
checks.positive_data_acceptance.enabled = false
"""


@pytest.mark.once  # what each database refuses is tested by name in test_bad_input
def test_generated_requests_find_no_answer_that_the_document_does_not_promise(tmp_path: Path):
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
            assert client.get("/v1/auth/me").status == 200, "the key was lost on the way, and with it the test"
    assert done.returncode == 0, done.stdout + done.stderr

"""Cases of a rule in one test."""

import re
import subprocess
import sys

SOURCE = """
from tests.cases import each_case

@each_case("number", [1, 2])
@each_case("text", ["fails first", "passes", "fails last", "\\ud800"])
def test_texts(number, text, tmp_path):
    assert "fails" not in text and tmp_path.is_dir()
"""


def test_a_failing_case_hides_no_other_case(tmp_path):
    path = tmp_path / "test_of_cases.py"
    path.write_text(SOURCE)
    options = ["-p", "no:django", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={tmp_path}"]
    done = subprocess.run([sys.executable, "-m", "pytest", *options, path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.findall(r"^_+ test_texts \[(.+)\] _+$", done.stdout, re.MULTILINE) == [
        str({"number": number, "text": text}) for number in (1, 2) for text in ("fails first", "fails last")
    ]

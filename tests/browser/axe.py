"""axe-core, which finds what people with disabilities stumble over; its pinned version is installed below .cache."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.databases import CHECKOUT

_HERE = Path(__file__).parent
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def script() -> str:
    """The source of axe-core, as tests/browser/package-lock.json names it by its hash."""
    version = json.loads((_HERE / "package.json").read_text())["dependencies"]["axe-core"]
    installed = CHECKOUT / ".cache" / f"axe-core-{version}.js"
    if not installed.exists():
        _install(installed)
    return installed.read_text()


def _install(to: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is missing: run `make services`.")
    to.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent) as directory:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_HERE / name, directory)
        subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"],
            cwd=directory, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        # Renamed as a whole, so that a process beside this one sees no half of it.
        (Path(directory) / "node_modules" / "axe-core" / "axe.min.js").rename(to)


def violations(page: Page, within: str = "html", rules: Sequence[str] = ()) -> list[str]:
    """What axe finds in the page, or in one element of it, by all rules or by some: a line for each kind of fault."""
    # What a click led to can be there before its stylesheets are.
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(script())
        page.add_init_script(script())  # on the pages after this one, where the browser has it compiled by then
    kind, values = ("rule", list(rules)) if rules else ("tag", _TAGS)
    # Nothing has to be told of what is as it should be.
    options: dict[str, Any] = {"runOnly": {"type": kind, "values": values}, "resultTypes": ["violations"]}
    found = page.evaluate("([element, options]) => axe.run(element, options)", [within, options])["violations"]
    return [f"{fault['id']}: {[node['html'] for node in fault['nodes']]}" for fault in found]


def violations_in_light_and_dark(page: Page, within: str = "html") -> list[str]:
    """The same in the light, and in the dark, where nothing but colours is another, by the rule about those."""
    found = []
    for scheme, rules in (("light", []), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.getAnimations().forEach(each => each.finish())")  # colours fade into each other
        found += [f"{scheme}: {fault}" for fault in violations(page, within, rules)]
    return found

"""axe-core, which finds accessibility problems of pages. Its pinned version is installed below .cache."""

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
    """Return the source of axe-core, which tests/browser/package-lock.json pins by its hash."""
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
        # Renamed in one step, so that another process never reads half a file.
        (Path(directory) / "node_modules" / "axe-core" / "axe.min.js").rename(to)


def violations(page: Page, within: str = "html", rules: Sequence[str] = ()) -> list[str]:
    """Return a line for each kind of problem in the page or in one element, by all rules or the given ones."""
    # After a click, the new page can appear before its stylesheets have loaded.
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(script())
        page.add_init_script(script())  # for the next pages: the browser caches the compiled script
    kind, values = ("rule", list(rules)) if rules else ("tag", _TAGS)
    # Report violations only.
    options: dict[str, Any] = {"runOnly": {"type": kind, "values": values}, "resultTypes": ["violations"]}
    results = page.evaluate("([element, options]) => axe.run(element, options)", [within, options])["violations"]
    return [f"{fault['id']}: {[node['html'] for node in fault['nodes']]}" for fault in results]


def violations_in_light_and_dark(page: Page, within: str = "html") -> list[str]:
    """Return the violations in the light scheme, and those of contrast in the dark one: only colours differ."""
    results = []
    for scheme, rules in (("light", []), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.getAnimations().forEach(each => each.finish())")  # colours change gradually
        results += [f"{scheme}: {fault}" for fault in violations(page, within, rules)]
    return results

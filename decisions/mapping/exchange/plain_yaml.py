"""YAML as plain data: texts, lists and objects of bounded size, without anchors and tags."""

from typing import Any

import yaml

from config.http import strict_json
from config.http.strict_json import InvalidJSON
from decisions.mapping.exchange.declarations import BadImport

MAX_NODES = 50_000
MAX_DEPTH = 40
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # PyYAML may lack libyaml
"""The loader that makes texts of all scalars: a code `01` or `NO` stays as it is written."""


def read(text: str) -> Any:
    """Return the content of a YAML or JSON document. The scalars of YAML are texts. Raises BadImport."""
    if text.lstrip().startswith("{"):
        try:
            return strict_json.read(text.encode())
        except InvalidJSON:
            pass  # a flow mapping of YAML
    try:
        _check(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a base loader constructs only texts, lists and dicts)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise BadImport(f"The document is not valid YAML{where}.") from None


def _check(text: str) -> None:
    """Refuse aliases, tags, and more than MAX_NODES or MAX_DEPTH, before anything is built. Raises BadImport."""
    nodes = depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadImport("The document has anchors or aliases. Write the values out.")
        if getattr(event, "tag", None):
            raise BadImport("The document has tags, such as !!binary. Remove them.")
        if nodes > MAX_NODES or depth > MAX_DEPTH:
            raise BadImport(f"The document has more than {MAX_NODES} values, or is more than {MAX_DEPTH} levels deep.")

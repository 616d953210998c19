"""Groups of the OpenAPI document, by subject."""

from typing import Any, Final, NamedTuple


class Group(NamedTuple):
    name: str
    description: str
    prefixes: tuple[str, ...]
    """Beginnings of its paths below `/v1/`. A longer beginning in another group wins."""


_DECISION: Final = "decisions/{decision_id}/"
GROUPS: Final = (
    Group("Ingest", "Send decision records, one by one or in bulk.", ("ingest",)),
    Group("Decisions", "Find decisions, and read a record and its receipt.", ("decisions",)),
    Group(
        "Reconsiderations",
        "Record what a person decided on review, and follow the requests for it.",
        (_DECISION + "reconsideration", "review-requests"),
    ),
    Group(
        "Notices",
        "Draft, edit, approve and deliver notices to affected people.",
        (_DECISION + "notices", "notice", "packs", "authority-grants", "mappings"),
    ),
    Group("Connectors", "Fetch records from other systems on a schedule.", ("connectors", "completeness")),
    Group("Custody", "Choose where records are stored and whose keys sign them.", ("custody",)),
    Group("Retention", "Set how long decisions stay, and place legal holds.", (_DECISION + "retention", "retention")),
    Group("Access", "Sign people in, and manage members, invitations and API keys.", ("auth/",)),
    Group("Audit", "Read who did what, and when.", ("audit",)),
)


def arrange(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Tag each operation with its group. Sort by group, then the contract's operations first, then by path."""
    paths = []
    for path, methods in result["paths"].items():
        place = _place(path)
        for operation in methods.values():
            operation["tags"] = [GROUPS[place].name]
        contract_first = dict(sorted(methods.items(), key=_is_other))
        paths.append((place, all(map(_is_other, methods.items())), path, contract_first))
    result["paths"] = {path: methods for *_, path, methods in sorted(paths, key=lambda row: row[:3])}
    result["tags"] = [{"name": group.name, "description": group.description} for group in GROUPS]
    return result


def _is_other(item: tuple[str, dict[str, Any]]) -> bool:
    """Whether an operation is outside the contract."""
    return "x-contract" not in item[1]


def _place(path: str) -> int:
    """Return the index of the group with the longest beginning of a path."""
    lengths = {
        len(prefix): index
        for index, group in enumerate(GROUPS)
        for prefix in group.prefixes
        if path.startswith(f"/v1/{prefix}")
    }
    return lengths[max(lengths)]

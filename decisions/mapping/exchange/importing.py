"""Import of a document of another tool, whatever its format, as proposals."""

from typing import Literal

from decisions.mapping.exchange import data_contract, dictionary_table, schema_fields
from decisions.mapping.exchange.declarations import BadImport, proposals
from decisions.mapping.exchange.dictionary_table import Columns
from decisions.mapping.suggest import Proposal

Format = Literal["odcs", "csv", "json_schema"]


def proposals_of(
    document_format: Format,
    document: str,
    *,
    below: str = "",
    object_name: str = "",
    columns: Columns | None = None,
    language: str = "en",
) -> list[Proposal]:
    """Return the proposals that a document makes. Those with a question come first.

    Args:
        below: the place of its fields in the record, as a pattern, or "" for the top.
        object_name: the object of a data contract's schema, if it has several.
        columns: the columns of a CSV table.
        language: the language of its labels and words.

    Raises:
        BadImport
    """
    match document_format:
        case "odcs":
            fields = data_contract.read(document, below, object_name)
        case "json_schema":
            fields = schema_fields.read(document, below)
        case "csv":
            if columns is None:
                raise BadImport("Name the columns of the table: at least columns.path.")
            fields = dictionary_table.read(document, columns, below)
    return proposals(fields, language)

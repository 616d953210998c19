"""Corrections of WeasyPrint's output for a file that is both PDF/A-3a and PDF/UA-1.

WeasyPrint claims only one of the standards, tags page margins outside the structure tree, and measures figures in
pixels from the top.
"""

from pathlib import Path
from typing import Any

_POINTS = 72 / 96
_CLAIM = (Path(__file__).parent / "pdfua.xmp").read_bytes()


def finish(file: Any) -> None:
    """Complete WeasyPrint's PDF/A-3a, a `pydyf.PDF`, before it is written."""
    _claim_pdfua(file)
    _mark_artifacts(file)
    _place_figures(file)


def _claim_pdfua(file: Any) -> None:
    """Add PDF/UA-1 to the metadata, with the schema description that PDF/A requires (ISO 19005-3, 6.6.2.3)."""
    metadata = _object(file, file.catalog["Metadata"]).stream
    metadata[0] = metadata[0].replace(b"</rdf:RDF>", _CLAIM + b"</rdf:RDF>", 1)


def _mark_artifacts(file: Any) -> None:
    """Mark page numbers and watermarks as artifacts, which screen readers skip (ISO 14289-1, 7.1 and 7.8)."""
    root = _object(file, file.catalog["StructTreeRoot"])
    tagged = _reached(file, root["K"])
    # A number tree: page, its structure elements by marked-content identifier, page, ...; then the annotations.
    numbers = _object(file, root["ParentTree"])["Nums"]
    for page, parents in zip(file.page_references, numbers[1::2], strict=False):
        content = _object(file, _object(file, page)["Contents"]).stream
        for at, properties in enumerate(content):
            if isinstance(properties, dict) and parents[properties["MCID"]] not in tagged:
                parents[properties.pop("MCID")] = "null"
                content[at - 1], properties["Type"] = "/Artifact", "/Pagination"


def _place_figures(file: Any) -> None:
    """Convert the boxes of figures to points from the bottom left of the page (ISO 32000-1, 14.8.5.4)."""
    for figure in file.objects:
        if isinstance(figure, dict) and figure.get("S") == "/Figure":
            height = _object(file, figure["Pg"])["MediaBox"][3]
            left, top, right, bottom = (pixels * _POINTS for pixels in figure["A"]["BBox"])
            figure["A"]["BBox"][:] = [left, height - bottom, right, height - top]


def _reached(file: Any, kids: Any) -> set[bytes]:
    """Return the references of all objects in the structure tree."""
    references: set[bytes] = set()
    waiting = list(kids)
    while waiting:
        kid = waiting.pop()
        if isinstance(kid, bytes):  # else the number of a marked content
            references.add(kid)
            waiting.extend(_object(file, kid).get("K", ()))
    return references


def _object(file: Any, reference: bytes) -> Any:
    return file.objects[int(reference.split()[0])]

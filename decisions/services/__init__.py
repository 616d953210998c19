"""Every change of state of decisions: taking records in, and reconsidering them."""

from decisions.services.records import CHUNK, INVALID, Line, ingest, ingest_lines

__all__ = ["CHUNK", "INVALID", "Line", "ingest", "ingest_lines"]

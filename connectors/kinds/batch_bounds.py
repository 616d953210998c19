"""Bounds of batches, pages and notes."""

BATCH_BYTES = 4 * 2**20
BATCH_SECONDS = 20.0
"""A batch that fills slowly still ends, which shows that its reader is alive."""
BATCH_LEDGER = 500
MAX_NOTE = 2048
"""Characters of the note in a ledger entry."""
MAX_RETRY_AFTER = 24 * 3600
PAGE_BYTES = 32 * 2**20
"""A page of an API, decompressed."""

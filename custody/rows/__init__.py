"""Rows of custody: how they are written in bulk, guarded by triggers, and partitioned."""

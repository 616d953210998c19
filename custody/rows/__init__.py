"""Rows of custody: how they are written in bulk and guarded by triggers."""

"""The pages of `back_office` on SQLite, the default database."""

from bench.back_office import measure

__all__ = ["measure"]

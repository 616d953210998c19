"""Mappings: what the fields of a decision system's records mean, stated once and confirmed by a person."""

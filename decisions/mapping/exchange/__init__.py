"""Exchange of mappings with other tools: data contracts (ODCS), data dictionaries (CSV) and JSON Schemas.

What another tool says about a field is a proposal, which a person reads before it counts.
"""

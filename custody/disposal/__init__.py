"""Disposal: removal of records for good, with a signed statement for each.

`families` records that belong together · `disposal_statements` the signed statement · `journal` keeps it outside the
database · `age_sweeps` removal of data that belongs to no record, by its age
"""

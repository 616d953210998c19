"""Disposal: removal of records for good, with a signed statement for each.

`families` records that belong together · `disposal_statements` the signed statement · `disposals` reads it · `journal`
keeps it outside the database · `aged` and `retain` are hooks for the app that knows retention policies
"""

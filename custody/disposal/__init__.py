"""Disposal: removing records for good, and the signed statement that remains of each.

`families` records that go together · `disposal_statements` what is signed · `disposals` reads it · `journal` keeps it
outside the database · `aged` and `retain` are seams for the app that knows policies
"""

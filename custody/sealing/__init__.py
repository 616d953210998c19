"""Sealing: from the exact bytes of a record to its signed, encrypted form, and back.

`sealer` seals and opens · `statements` and `envelope` the signed form (in-toto, DSSE) · `fields`, `field_paths` and
`merkle` commit to every field · `verifier` checks receipts offline, in a single file
"""

"""Sealing: from the exact bytes of a record to its signed, encrypted form, and back.

`sealer` seals and opens · `statements` and `envelope` are what is signed (in-toto, DSSE) · `fields`, `field_paths` and
`merkle` commit to every field · `verifier` checks it all offline, in a single file
"""

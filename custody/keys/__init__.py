"""Keys of an organization: its keyring, the wrapping of data keys, and keys that a key management service holds.

`keyrings` the keys in use · `wrappers` and `epoch_keys` wrap data keys · `kms` chooses the provider's client ·
`new_keys` uses a key before its row is saved · `outages` keys that cannot be used now
"""

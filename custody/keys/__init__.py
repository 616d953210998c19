"""Keys of an organization: its keyring, the wrapping of data keys, and keys in a key management service.

`keyrings` the keys in use · `wrappers` and `epoch_keys` wrap data keys · `kms` clients of key management services ·
`new_keys` tests a key before its row is saved · `outages` keys that cannot be used now
"""

"""Azure: Blob Storage for storage, Key Vault for keys."""

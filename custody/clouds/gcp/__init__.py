"""Google Cloud: Cloud Storage for storage, Cloud KMS for keys."""

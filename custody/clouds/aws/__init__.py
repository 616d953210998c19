"""Amazon Web Services: S3 for storage, KMS for keys."""

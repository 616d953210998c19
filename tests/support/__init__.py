"""Helpers of the tests: emulators, processes of the service, and fixtures' tools. Each module in one line:

Emulators of clouds and other servers:
- `aws_server`: S3, KMS, STS and IAM with signatures and permissions (ministack behind a proxy)
- `s3_server`: the same with a bucket `decisions` and users with different permissions
- `azure_cloud`: Entra ID, Key Vault, Resource Manager and blobs at one address
- `azurite`: Azure Blob Storage in a separate process
- `blob_versions`: versions, locks and soft delete for azurite
- `key_vault`: Azure Key Vault with real keys
- `gcs_server`: Google Cloud Storage, and Cloud KMS at the same address
- `cloud_kms`: Google Cloud KMS with real keys
- `google_accounts`: service accounts of the Google emulators
- `databases`: a PostgreSQL with TLS, for connectors to read
- `broker`: a Redis that can be killed and started again
- `web_server`: an HTTP or HTTPS server with the answers of a test
- `faults`: timeouts, broken connections and error answers of such a server
- `forwarding`: forwarding of a request to another server, for proxies
- `certificates`: a certificate authority

Processes of the service:
- `forks`: programs in forks of a process that has imported the service
- `imported`: the imports of that process
- `workers`: workers, clocks and single polls
- `machines`: web server, worker and clock that can be killed together
- `freezing`: the service with a path that holds the GIL

Tools for the database and for single tests:
- `kept_rows`: rows that the first test creates and the others copy
- `everything_kept`: a snapshot of all rows and files
- `undone`: rollback after each case of a test
- `unguarded`: changes to signed rows, which guards refuse
- `loops`: an event loop in a thread
- `reader`: a reader that remembers cursor and ledger like a connector
"""

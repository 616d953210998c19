"""Signing with a key that a key management service holds."""

from custody import kms
from custody.kms import KmsRefused
from custody.models import Key
from custody.signers import verifies


class KmsSigner:
    """Each signature is one call to the service; threads may sign together."""

    def __init__(self, row: Key) -> None:
        self.key_pk, self.key_id, self.algorithm = row.pk, row.key_id, row.algorithm
        self._row = row

    def sign(self, data: bytes) -> bytes:
        """A signature that verifies under the public half in the key's row. Raises KmsUnavailable."""
        row = self._row
        signature = kms.service(row.provider, row.configuration, row.organization_id).sign(data, row.algorithm)
        if not verifies(row.algorithm, row.public_pem, signature, data):
            raise KmsRefused("the signature does not verify: the service has signed with another key")
        return signature

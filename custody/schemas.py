"""Bodies and answers of the API for custody."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from config.http.schemas import Answer, Error, RequestBody


class Signature(Answer):
    keyid: str
    sig: str


class Envelope(Answer):
    payload: str
    payloadType: str
    signatures: list[Signature]


class DisposalOut(Answer):
    """The destruction of a record under a retention policy. `envelope` is DSSE v1 over the signed in-toto statement."""

    record_id: str
    disposed_at: str
    policy: int
    reason: str
    envelope: Envelope


class GoneError(Error):
    disposal: DisposalOut


class ConflictError(Error):
    """`disposal` is there if the record was disposed of."""

    disposal: DisposalOut | None = None


GONE = (410, GoneError)
CONFLICT = (409, ConflictError)
"""`errors` of an operation on a record that was disposed of: GONE if it reads the record, CONFLICT if it adds to it."""


class PublicKey(Answer):
    """A key signs records received from `valid_from` to `retired_at`. `valid_from` precedes `created_at` where
    records waited in the queue for the key."""

    key_id: str
    algorithm: str
    public_key_pem: str
    created_at: str
    valid_from: str
    retired_at: str | None


class PublicKeys(Answer):
    items: list[PublicKey]


class CustodyIn(RequestBody):
    """The names in `config` are free: what is wrong with them is the first of the checks."""

    private: ClassVar = frozenset({"config"})

    provider: Literal["aws", "gcp", "azure"]
    config: dict[str, str] = {}


class CustodyCheck(Answer):
    id: str
    status: Literal["pass", "warn", "fail", "skipped"]
    call: str
    permission: str
    detail: str
    fix: str
    latency_ms: int


class CustodyTestOut(Answer):
    """`ok` is true if no check failed and `proven` is true. `changed` is true if the cloud stored an object although no
    call of the test could succeed; `stored` names it."""

    provider: str
    ok: bool
    changed: bool
    stored: list[str]
    proven: bool
    not_proven: list[str]
    checks: list[CustodyCheck]


class StorageIn(RequestBody):
    """`config` names what the custody test asks about; secrets are named by `secret_ref` and never sent."""

    private: ClassVar = frozenset({"config"})

    provider: Literal["deployment", "aws", "gcp", "azure"]
    config: dict[str, str] = {}

    @model_validator(mode="after")
    def _deployment_is_not_configured(self) -> Self:
        if self.provider == "deployment" and self.config:
            raise ValueError("The deployment's storage takes no config: leave it out, or name another provider.")
        return self


class EarlierStorage(Answer):
    target_id: str
    provider: str
    config: dict[str, str]
    retired_at: str | None


class StorageOut(Answer):
    """The storage of new records: the organization's own bucket, or the deployment's storage."""

    target_id: str
    provider: str
    config: dict[str, str]
    failing_since: str | None
    earlier: list[EarlierStorage]


class ChosenStorage(StorageOut):
    checks: list[CustodyCheck]

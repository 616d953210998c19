"""Bodies and answers of the API for custody."""

from typing import ClassVar, Literal

from config.api.schemas import Answer, RequestBody


class PublicKey(Answer):
    key_id: str
    algorithm: str
    public_key_pem: str
    created_at: str
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
    """`changed` is always false."""

    provider: str
    ok: bool
    changed: bool
    checks: list[CustodyCheck]

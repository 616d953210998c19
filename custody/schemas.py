from config.api.schemas import Answer


class PublicKey(Answer):
    key_id: str
    algorithm: str
    public_key_pem: str
    created_at: str
    retired_at: str | None


class PublicKeys(Answer):
    items: list[PublicKey]

from config.api.pagination import Page
from config.api.views import Answer, RequestBody


class KeyIn(RequestBody):
    name: str


class KeyPage(Page):
    """The list of API keys takes no filters."""


class KeyOut(Answer):
    key_id: str
    name: str
    role: str
    created_by: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    revoked_at: str | None


class NewKeyOut(KeyOut):
    """`api_key` is the credential itself: shown in this answer and never again."""

    api_key: str


class KeyList(Answer):
    items: list[KeyOut]
    next_cursor: str | None

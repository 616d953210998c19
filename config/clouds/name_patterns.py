"""Syntax of names and addresses in cloud settings."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

AWS_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
AWS_REGION = r"[a-z]{2}(-[a-z0-9]+)+"
AWS_ROLE = r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+"
GCP_BUCKET = r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]"
AZURE_ACCOUNT = r"[a-z0-9]{3,24}"
AZURE_CONTAINER = r"\$?[a-z0-9]+(-[a-z0-9]+)*"

_LABELS = {"region": "region", "role_arn": "role ARN"}


def name_problems(setting: str, name: str, pattern: str) -> Iterator[str]:
    # linear: callers pass the patterns above
    if not re.fullmatch(pattern, name, re.ASCII):
        yield f"{setting}: Not a valid {_LABELS.get(setting, f'{setting} name')}."


def endpoint_problems(endpoint: str, *, may_have_path: bool = False) -> Iterator[str]:
    if not endpoint:
        return
    try:
        parts = urlsplit(endpoint)
        is_valid = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or parts.username is not None or parts.query or parts.fragment:
        yield "endpoint: Write an address such as https://storage.example.org, without user and password."
    elif parts.path.strip("/") and not may_have_path:
        yield "endpoint: Leave out the path. The bucket has its own setting."

"""Path parameters of the API. Importing this module registers them."""

from django.urls import register_converter
from django.urls.converters import IntConverter, PathConverter


class AnyText(PathConverter):
    """Like `path`, and with line breaks: a decision id may contain every character but NUL."""

    regex = "(?s:.+)"


class RowId(IntConverter):
    """A row's number, of no more digits than a row can have: a longer one is nobody's, so it is a 404."""

    regex = "[0-9]{1,18}"


register_converter(AnyText, "any")
register_converter(RowId, "id")

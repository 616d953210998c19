"""Path parameters of the API. Importing this module registers them."""

from django.urls import register_converter
from django.urls.converters import IntConverter, PathConverter


class AnyText(PathConverter):
    """Like `path`, but with line breaks: a decision id may contain any character except NUL."""

    regex = "(?s:.+)"


class RowId(IntConverter):
    """A row's number, at most as long as a primary key: a longer one cannot exist, so it is a 404."""

    regex = "[0-9]{1,18}"


register_converter(AnyText, "any")
register_converter(RowId, "id")

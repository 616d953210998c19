"""The form of a connector, with a field for each setting of its kind."""

import json
from inspect import get_annotations
from typing import Any, Literal, get_args, get_origin

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic.fields import FieldInfo

from config import secret_references
from config.errors import DomainError
from config.http import strict_json
from config.http.strict_json import InvalidJSON
from connectors.kinds.base import Kind, KindConfig
from connectors.models import MAX_NAME, MAX_SCHEDULE, MIN_SCHEDULE, Connector
from connectors.secret_names import without_secrets
from connectors.services import Changes

_PREFIX = "setting_"
_LONG_TEXT = 4096  # characters; a longer setting gets a field of several lines
LABELS = {
    "account": _("Account"),
    "bucket": _("Bucket"),
    "container": _("Container"),
    "cursor": _("Cursor"),
    "database": _("Database"),
    "endpoint": _("Endpoint"),
    "format": _("Format"),
    "headers": _("Headers"),
    "host": _("Host"),
    "items": _("Items"),
    "map": _("Field map"),
    "pagination": _("Pagination"),
    "path": _("Path"),
    "pattern": _("Pattern"),
    "port": _("Port"),
    "prefix": _("Prefix"),
    "query": _("Query"),
    "region": _("Region"),
    "role_arn": _("Role ARN"),
    "since": _("Since"),
    "tls": _("TLS"),
    "url": _("URL"),
    "user": _("User"),
}
"""Names of the settings of all kinds."""


class LinesField(forms.CharField):
    """A text of several lines, with LF line ends instead of the CRLF that browsers send."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def to_python(self, value: Any) -> Any:
        return str(super().to_python(value)).replace("\r\n", "\n")


class JsonField(LinesField):
    """A value as JSON; None if nothing is entered."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return strict_json.read(text.encode(), nul=False)
        except InvalidJSON as error:
            raise forms.ValidationError(_("Invalid JSON: %(general)s.") % {"general": error.general}) from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(initial) != self.to_python(data))
        except forms.ValidationError:
            return True


class ConnectorForm(forms.Form):
    """A connector of one kind. Invalid settings become problems of the connector, not errors of the form."""

    form_token = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(max_length=MAX_NAME, help_text=_("Say where the records come from."))
    schedule_seconds = forms.IntegerField(
        label=_("Seconds between polls"),
        initial=300,
        min_value=MIN_SCHEDULE,
        max_value=MAX_SCHEDULE,
        help_text=_("Enter 30 to 86400 (one day)."),
    )
    secret_ref = forms.CharField(label=_("Secret reference"), required=False)
    item = LinesField(
        label=_("Item to preview"),
        required=False,
        help_text=_("Paste one item as the source has it, to see its record. It is not saved."),
    )

    def __init__(self, kind: Kind, data: Any = None, *, connector: Connector | None = None, **options: Any) -> None:
        initial = {**_shown(connector), **options.pop("initial", {})} if connector else options.pop("initial", {})
        super().__init__(data, initial=initial, **options)
        self.settings = kind.Config
        own = [name for name in _own_first(kind.Config) if name not in KindConfig.model_fields]
        for name in [*own, *KindConfig.model_fields]:
            self.fields[_PREFIX + name] = _field(name, kind.Config.model_fields[name])
        if kind.secret:
            self.fields["secret_ref"].help_text = _(
                "Enter a reference such as file:NAME or env:DRS_SECRET_NAME to %(secret)s."
            ) % {"secret": kind.secret.replace("`", "")}
        elif not initial.get("secret_ref"):
            del self.fields["secret_ref"]
        self.order_fields(["form_token", "name", *(_PREFIX + name for name in own), "secret_ref"])
        self.order_fields([*(name for name in self.fields if name != "item"), "item"])
        self.sections = {
            _PREFIX + own[0]: _("Source"),
            "schedule_seconds": _("Schedule and records"),
            "item": _("Try one item"),
        }

    def clean_secret_ref(self) -> str:
        reference = str(self.cleaned_data["secret_ref"])
        if reference:
            try:
                secret_references.require_allowed(reference)
            except DomainError as error:
                raise forms.ValidationError(error.sentence) from None
        return reference

    @property
    def config(self) -> dict[str, Any]:
        """Return the entered settings, without empty values and defaults."""
        entered = {name: self.cleaned_data.get(_PREFIX + name) for name in self.settings.model_fields}
        fields = self.settings.model_fields
        return {name: value for name, value in entered.items() if value not in (None, "", fields[name].default)}

    @property
    def entered(self) -> dict[str, Any]:
        """Return the arguments for creating or testing a connector. The form must be valid."""
        return {"config": self.config, "secret_ref": self.cleaned_data.get("secret_ref", "")}

    def changes(self, connector: Connector) -> Changes:
        """Return the changed fields; settings with problems are checked again. The form must be valid."""
        is_new = connector.problems or any(name.startswith(_PREFIX) for name in self.changed_data)
        return Changes(
            name=self.cleaned_data["name"],
            schedule_seconds=self.cleaned_data["schedule_seconds"],
            secret_ref=self.cleaned_data.get("secret_ref", ""),
            config=self.config if is_new else None,
        )

    def forget_secrets(self) -> None:
        """Remove everything that looks like a secret from the redisplayed form."""
        settings, dropped = without_secrets(self.config, self.settings)
        shown = dict(self.data.items())
        for path in dropped:
            shown[_PREFIX + path[0]] = setting_text(settings.get(path[0], ""))
        if "secret_ref" in self.errors:
            shown["secret_ref"] = ""
        self.data = shown


def _own_first(settings: type[KindConfig]) -> list[str]:
    """Return the names of a kind's settings: its specific ones before those that all kinds share."""
    models = [model for model in settings.__mro__ if issubclass(model, KindConfig)]
    names = [name for model in models for name in get_annotations(model) if name in settings.model_fields]
    return list(dict.fromkeys(names))


def _field(name: str, described: FieldInfo) -> forms.Field:
    """Return a field that may be empty, marked as required where an empty value is a problem of the connector."""
    field = _plain_field(name, described)
    if described.is_required():
        field.label = f"{field.label} *"
        field.widget.attrs["aria-required"] = "true"
    return field


def _plain_field(name: str, described: FieldInfo) -> forms.Field:
    default = None if described.is_required() else described.get_default()
    label, help_text = LABELS.get(name, capfirst(name)), described.description or ""
    options: dict[str, Any] = {"label": label, "required": False, "help_text": help_text}
    if described.annotation is str:
        max_length = max((bound.max_length for bound in described.metadata if hasattr(bound, "max_length")), default=0)
        return (LinesField if max_length > _LONG_TEXT else forms.CharField)(**options, initial=default)
    if described.annotation is int:
        return forms.IntegerField(**options, initial=default)
    if get_origin(described.annotation) is Literal:
        choices = [(value, value) for value in get_args(described.annotation)]
        return forms.ChoiceField(**options, initial=default, choices=choices)
    help_text = gettext("%(help)s Enter JSON.") % {"help": help_text}
    return JsonField(**{**options, "help_text": help_text.strip()})


def _shown(connector: Connector) -> dict[str, Any]:
    """Return a connector as the form's initial values."""
    return {
        "name": connector.name,
        "schedule_seconds": connector.schedule_seconds,
        "secret_ref": connector.secret_ref,
        **{_PREFIX + name: setting_text(value) for name, value in connector.config.items()},
    }


def setting_text(value: Any) -> str:
    """Return a setting as form text, even if its type is wrong."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)

"""Forms for people and keys."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import MAX_KEY_NAME
from accounts.roles import MEMBER_ROLES, Role, may_give


class RoleForm(forms.Form):
    """A role. Only an owner may make another owner."""

    role = forms.ChoiceField(
        help_text=_("Choose the least that the person needs. The documentation lists what each role may do.")
    )

    def __init__(self, data: Any = None, *, by_owner: bool, **options: Any) -> None:
        super().__init__(data, **options)
        offered = [role.value for role in MEMBER_ROLES if by_owner or role is not Role.OWNER]
        self.fields["role"].choices = [(role, role) for role in offered]  # type: ignore[attr-defined]


class KeepKeysForm(forms.Form):
    """A choice about the keys of a member who loses permissions or leaves."""

    keep_keys = forms.BooleanField(
        required=False, label=_("Keep their keys working"), help_text=_("Tick if machines still need them.")
    )


class MemberForm(KeepKeysForm, RoleForm):
    """Another role for a member."""

    field_order = ("role", "keep_keys")


class InviteForm(RoleForm):
    email = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
        help_text=_("Enter the person's own address. They sign in with it."),
    )
    field_order = ("email", "role")


class KeyForm(forms.Form):
    """A key. Its role has only permissions that its maker's role has."""

    form_token = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(
        max_length=MAX_KEY_NAME,
        help_text=_("Name the machine that uses it. Lists and the audit trail show this name."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(
        help_text=_("Choose the least that the machine needs. A sender only hands in decision records.")
    )

    def __init__(self, data: Any = None, *, by: Role | None, **options: Any) -> None:
        super().__init__(data, **options)
        offered = [role.value for role in Role if by and may_give(by, role)]
        self.fields["role"].choices = [(role, role) for role in offered]  # type: ignore[attr-defined]
        self.fields["role"].initial = Role.SENDER

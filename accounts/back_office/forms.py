"""What operators enter about people and keys."""

from typing import Any

from django import forms

from accounts.models import MAX_KEY_NAME
from accounts.roles import MEMBER_ROLES, Role, may_give


class RoleForm(forms.Form):
    """A role; only an owner may give that of an owner."""

    role = forms.ChoiceField(help_text="What each role may do is on the page about roles in the documentation.")

    def __init__(self, data: Any = None, *, by_owner: bool, **options: Any) -> None:
        super().__init__(data, **options)
        offered = [role.value for role in MEMBER_ROLES if by_owner or role is not Role.OWNER]
        self.fields["role"].choices = [(role, role) for role in offered]  # type: ignore[attr-defined]


class KeepKeysForm(forms.Form):
    """What becomes of the keys of a member who may do less, or nothing any more."""

    keep_keys = forms.BooleanField(required=False, label="Keep their keys working")


class MemberForm(KeepKeysForm, RoleForm):
    """Another role for a member."""

    field_order = ("role", "keep_keys")


class InviteForm(RoleForm):
    email = forms.EmailField(
        label="Mail address", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    field_order = ("email", "role")


class KeyForm(forms.Form):
    """A key, with a role that allows nothing which that of its maker does not."""

    form_token = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(
        max_length=MAX_KEY_NAME,
        help_text="Which machine uses it. Lists and the audit trail show this name.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(
        help_text="What the machine may do. A sender hands in decision records, and does nothing else."
    )

    def __init__(self, data: Any = None, *, by: Role | None, **options: Any) -> None:
        super().__init__(data, **options)
        offered = [role.value for role in Role if by and may_give(by, role)]
        self.fields["role"].choices = [(role, role) for role in offered]  # type: ignore[attr-defined]
        self.fields["role"].initial = by

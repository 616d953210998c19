import json
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth import admin as _registers_its_models  # noqa: F401
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts import selectors, services
from accounts.back_office import (
    AllCodes,
    AllValues,
    ExactValue,
    NextStep,
    ReadOnlyAdmin,
    TimeRange,
    caller,
    form_tokens,
    label_of,
    moment,
    object_url,
    refusal,
)
from accounts.back_office.forms import InviteForm, KeepKeysForm, KeyForm, MemberForm
from accounts.models import ApiKey, AuditEvent, Invite, Member
from accounts.roles import Permission, Role
from accounts.services import invites, lineage, members
from accounts.services.invites import AlreadyMember
from accounts.services.lineage import Made
from accounts.services.members import LastOwner, RoleOutOfReach
from config.words import in_words

admin.site.unregister(Group)  # what people may do comes from accounts.roles

_SENT_BEFORE = _(
    "No key was created: this form was sent before, or is too old. If the list has a new key that you did not copy, "
    "revoke it and create another."
)


_MAX_NAMES = 20
"""Names in a message. The API's answer and the audit trail list all."""


def _role(request: HttpRequest) -> Role | None:
    """Return the operator's role, or None for an operator who only runs the platform."""
    member = selectors.current_member(request)
    return Role(member.role) if member else None


def _is_owner(request: HttpRequest) -> bool:
    return _role(request) is Role.OWNER


def _ended(made: Made) -> str:
    """Describe which keys and invitations ended or still work, and which members got their role from there."""
    keys = [(f"{key.name[:60]} ({key.key_id})", bool(key.revoked_at)) for key in made.keys]
    invites = [
        (gettext("the invitation to %(email)s") % {"email": invite.email}, bool(invite.revoked_at))
        for invite in made.invites
    ]
    parts = [
        (gettext("Revoked: %(names)s."), [name for name, ended in keys + invites if ended]),
        (gettext("Still working: %(names)s."), [name for name, ended in keys + invites if not ended]),
        (gettext("Still members, with a role from there: %(names)s."), [row.user.email for row in made.members]),
    ]
    return " ".join(sentence % {"names": _listed(names)} for sentence, names in parts if names)


def _listed(names: list[str]) -> str:
    listed, more = ", ".join(names[:_MAX_NAMES]), len(names) - _MAX_NAMES
    return gettext("%(names)s and %(count)s more") % {"names": listed, "count": more} if more > 0 else listed


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_MEMBERS
    list_display = ("person", "role", "created_at")
    one, many = _("member"), _("members")
    labels = {"user": _("user"), "role": _("role"), "created_at": _("joined")}
    list_select_related = ("user",)
    list_filter = ("role",)
    search_fields = ("user__email", "user__name")
    fields = ("user", "role", "created_at")
    row_template = "admin/accounts/member.html"

    @admin.display(description=_("user"), ordering="user__email")
    def person(self, row: Member) -> str:
        return str(row.user)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("<int:pk>/role/", wrap(require_POST(self.change_role)), name="change-member-role"),
            path("<int:pk>/remove/", wrap(require_POST(self.remove)), name="remove-member"),
            *super().get_urls(),
        ]

    def row_context(self, request: HttpRequest, row: Member) -> dict[str, Any]:
        form = MemberForm(by_owner=_is_owner(request), initial={"role": row.role})
        removal = KeepKeysForm(auto_id="removal-%s")
        made = lineage.of_member(row)
        if not made.keys:
            del form.fields["keep_keys"], removal.fields["keep_keys"]
        return {"form": form, "removal": removal, "made": made, "refusal": self._refusal(request, row)}

    def change_role(self, request: HttpRequest, pk: int) -> HttpResponse:
        member, who = self.get_row(request, pk), caller(request, Permission.MANAGE_MEMBERS)
        form = MemberForm(request.POST, by_owner=_is_owner(request))
        if not form.is_valid():
            messages.error(request, str(form.errors["role"][0]))
            return redirect("admin:accounts_member_change", pk)
        given, keep = Role(form.cleaned_data["role"]), form.cleaned_data["keep_keys"]
        try:
            _, made = members.change_role(caller=who, member=member, role=given, keep_keys=keep)
        except (LastOwner, RoleOutOfReach) as refused:
            messages.error(request, refused.sentence)
        else:
            done = gettext("From their next request on, %(user)s has the role %(role)s.") % {
                "user": member.user,
                "role": given,
            }
            messages.success(request, f"{done} {_ended(made)}".strip())
        return redirect("admin:accounts_member_change", pk)

    def remove(self, request: HttpRequest, pk: int) -> HttpResponse:
        member, who = self.get_row(request, pk), caller(request, Permission.MANAGE_MEMBERS)
        form = KeepKeysForm(request.POST)
        form.is_valid()
        try:
            _, made = members.remove_member(caller=who, member=member, keep_keys=form.cleaned_data["keep_keys"])
        except (LastOwner, RoleOutOfReach) as refused:
            messages.error(request, refused.sentence)
            return redirect("admin:accounts_member_change", pk)
        done = gettext("The membership of %(user)s has ended.") % {"user": member.user}
        messages.success(request, f"{done} {_ended(made)}".strip())
        return self.back_to_list(request)

    def _refusal(self, request: HttpRequest, member: Member) -> str:
        """Return why the service would refuse a change, or ""."""
        owners = Member.objects.for_organization(member.organization_id).filter(role=Role.OWNER)
        if member.role == Role.OWNER and not _is_owner(request):
            return refusal(request, Permission.MANAGE_MEMBERS) or RoleOutOfReach.sentence
        if member.role == Role.OWNER and owners.count() == 1:
            return LastOwner.sentence
        return refusal(request, Permission.MANAGE_MEMBERS)


@admin.register(Invite)
class InviteAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_MEMBERS
    nothing = _("No invitations yet.")
    next_step = NextStep(_("Invite a person"), "admin:invite", Permission.MANAGE_MEMBERS)
    one, many = _("invitation"), _("invitations")
    list_display = ("email", "role", "status", "invited_by", "created_at", "expires_at")
    fields = ("email", "role", "status", "invited_by", "created_at", "expires_at", "accepted_at", "revoked_at")
    labels = {
        "email": _("email"), "role": _("role"), "created_at": _("sent"),
        "expires_at": _("expires"), "accepted_at": _("accepted"), "revoked_at": _("withdrawn"),
    }  # fmt: skip
    search_fields = ("email",)
    ordering = ("-created_at", "-pk")
    row_template = "admin/accounts/invite.html"
    change_list_template = "admin/accounts/invites.html"

    @admin.display(description=_("status"))
    def status(self, row: Invite) -> str:
        return row.status

    @admin.display(description=_("invited by"))
    def invited_by(self, row: Invite) -> str:
        return label_of(row.created_by)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("invite/", wrap(self.invite), name="invite"),
            path("<int:pk>/withdraw/", wrap(require_POST(self.withdraw)), name="withdraw-invite"),
            *super().get_urls(),
        ]

    def row_context(self, request: HttpRequest, row: Invite) -> dict[str, Any]:
        return {"refusal": self._refusal(request, row)}

    def invite(self, request: HttpRequest) -> HttpResponse:
        form = InviteForm(request.POST or None, by_owner=_is_owner(request), initial={"role": Role.EDITOR})
        if request.method == "POST":
            who = caller(request, Permission.MANAGE_MEMBERS)
            if form.is_valid():
                try:
                    made = invites.invite(caller=who, email=form.cleaned_data["email"], role=form.cleaned_data["role"])
                except (AlreadyMember, RoleOutOfReach) as refused:
                    form.add_error(None, refused.sentence)
                else:
                    messages.success(
                        request,
                        _("An invitation to %(email)s is on its way. It is valid for a week.") % {"email": made.email},
                    )
                    return self.back_to_list(request)
        reason = refusal(request, Permission.MANAGE_MEMBERS)
        shown = {"form": form, "label": gettext("Send the invitation"), "refusal": reason}
        return self.page(
            request, "admin/form_page.html", _("Invite a person"), status=422 if form.errors else 200, **shown
        )

    def withdraw(self, request: HttpRequest, pk: int) -> HttpResponse:
        row, who = self.get_row(request, pk), caller(request, Permission.MANAGE_MEMBERS)
        try:
            invites.revoke_invite(caller=who, invite=row)
        except RoleOutOfReach as refused:
            messages.error(request, refused.sentence)
        else:
            messages.success(request, _("Withdrawn: the link in the mail no longer works."))
        return redirect("admin:accounts_invite_change", pk)

    def _refusal(self, request: HttpRequest, row: Invite) -> str:
        if row.status in ("accepted", "revoked"):
            return gettext("This invitation is %(status)s.") % {"status": row.status}
        if row.role == Role.OWNER and not _is_owner(request):
            return refusal(request, Permission.MANAGE_MEMBERS) or RoleOutOfReach.sentence
        return refusal(request, Permission.MANAGE_MEMBERS)


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_KEYS
    one, many = _("API key"), _("API keys")
    nothing = _("No key yet. Machines need one to call the API.")
    next_step = NextStep(_("Create a key"), "admin:create-key", Permission.MANAGE_KEYS)
    list_display = ("name", "key_id", "role", "state", "last_used_at", "made_by", "created_at")
    fields = ("name", "key_id", "role", "state", "made_by", "created_at", "last_used_at", "expires_at", "revoked_at")
    labels = {
        "name": _("name"), "key_id": _("key ID"), "role": _("role"), "created_at": _("created"),
        "last_used_at": _("last used"), "expires_at": _("expires"), "revoked_at": _("revoked"),
    }  # fmt: skip
    list_filter = ("role",)
    search_fields = ("name", "key_id")
    ordering = ("-created_at", "-pk")
    row_template = "admin/accounts/key.html"
    change_list_template = "admin/accounts/keys.html"

    def title(self, row: ApiKey) -> str:
        return row.name

    @admin.display(description=_("state"))
    def state(self, row: ApiKey) -> str:
        return row.state

    @admin.display(description=_("created by"))
    def made_by(self, row: ApiKey) -> str:
        return label_of(row.created_by)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("create/", wrap(self.create), name="create-key"),
            path("<int:pk>/revoke/", wrap(require_POST(self.revoke)), name="revoke-key"),
            *super().get_urls(),
        ]

    def row_context(self, request: HttpRequest, row: ApiKey) -> dict[str, Any]:
        revoked = gettext("This key is revoked already.") if row.revoked_at else ""
        return {"refusal": revoked or refusal(request, Permission.MANAGE_KEYS), "made": lineage.of_key(row)}

    def create(self, request: HttpRequest) -> HttpResponse:
        """Create a key. Only this answer to the form shows it."""
        if request.method == "POST":
            who = caller(request, Permission.MANAGE_KEYS)
            form = KeyForm(request.POST, by=who.role)
            if form.is_valid():
                if not form_tokens.use_token(request, form.cleaned_data["form_token"]):
                    messages.error(request, _SENT_BEFORE)
                    return self.back_to_list(request)
                name, role = form.cleaned_data["name"], Role(form.cleaned_data["role"])
                key, token = services.create_api_key(caller=who, name=name, role=role)
                return self.page(request, "admin/accounts/new_key.html", _("A new key"), key=key, token=token)
        else:
            form = KeyForm(by=_role(request), initial={"form_token": form_tokens.form_token(request)})
        shown = {
            "form": form,
            "label": gettext("Create the key"),
            "refusal": refusal(request, Permission.MANAGE_KEYS),
            "intro": gettext("The key stops working when you leave, or get a role that may do less."),
        }
        return self.page(
            request, "admin/form_page.html", _("Create a key"), status=422 if form.errors else 200, **shown
        )

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        key, who = self.get_row(request, pk), caller(request, Permission.MANAGE_KEYS)
        made = services.revoke_api_key(caller=who, key=key)
        done = gettext("The key stops working within a second.")
        messages.success(request, f"{done} {_ended(made)}".strip())
        return redirect("admin:accounts_apikey_change", pk)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    needed = Permission.READ_AUDIT
    one, many = _("event"), _("events")
    list_display = ("at", "event", moment("actor_label", _("by")), "about")
    fields = ("at", "event", "actor_label", "actor_kind", "actor_id", "about", "object_id", "details")
    labels = {
        "at": _("time"), "verb": _("event"), "actor_label": _("by"), "actor_kind": _("by (kind)"),
        "actor_id": _("by (id)"), "object_kind": _("about"), "object_id": _("about (id)"),
    }  # fmt: skip
    list_filter = (
        ("at", TimeRange), ("verb", AllCodes), ("actor_label", AllValues), ("object_kind", AllCodes),
        ("object_id", ExactValue),
    )  # fmt: skip
    sortable_by = ("at",)
    ordering = ("-at", "-pk")
    row_template = "admin/accounts/event.html"

    @admin.display(description=_("event"))
    def event(self, row: AuditEvent) -> str:
        return in_words(row.verb)

    @admin.display(description=_("about"))
    def about(self, row: AuditEvent) -> str:
        return in_words(row.object_kind)

    def title(self, row: AuditEvent) -> str:
        return in_words(row.verb)

    @admin.display(description=_("details"))
    def details(self, row: AuditEvent) -> str:
        return format_html("<code>{}</code>", json.dumps(row.detail, ensure_ascii=False)) if row.detail else "-"

    def row_context(self, request: HttpRequest, row: AuditEvent) -> dict[str, Any]:
        return {"about": object_url(request, row.object_kind, row.object_id)}

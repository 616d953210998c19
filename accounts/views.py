"""The pages where people sign in, accept invitations and manage their sessions."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import selectors, services
from accounts.browsers import browser_of, remember
from accounts.forms import CodeForm, MailForm
from accounts.services import codes, invites, second_factor, sessions, sign_in
from config import client_ip

_EMAIL, _NEXT, _CONFIRM, _JOINS = "sign_in_email", "sign_in_next", "sign_in_confirm", "sign_in_joins"
_WRONG_CODE = _("This code is wrong or no longer valid. Try again, or start again to get a new one.")


@never_cache
@require_http_methods(["GET", "POST"])
def ask_for_code(request: HttpRequest) -> HttpResponse:
    form = MailForm(request.POST or None, initial={"email": getattr(request.user, "email", "")})
    if request.method == "GET":
        return render(request, "accounts/sign_in.html", {"form": form})
    if not form.is_valid():
        return render(request, "accounts/sign_in.html", {"form": form}, status=422)
    email, browser = form.cleaned_data["email"], browser_of(request)
    try:
        codes.request_code(email=email, intent="sign_in", client=client_ip.network(request), browser=browser)
    except codes.TooManyRequests as error:
        form.add_error(
            None,
            _("Too many codes were requested. Try again in %(wait)s.") % {"wait": _in_words(error.retry_after or 0)},
        )
        answer = render(request, "accounts/sign_in.html", {"form": form}, status=429)
        answer["Retry-After"] = str(error.retry_after)
        return answer
    # Not earlier: a visit without a request for a code leaves no session in the database.
    request.session[_EMAIL], request.session[_NEXT] = email, request.GET.get("next", "")
    request.session[_CONFIRM] = "confirm" in request.GET
    request.session.pop(_JOINS, None)
    asked = redirect("enter-code")
    remember(asked, browser)
    return asked


def _in_words(seconds: int) -> str:
    minutes, hours = -(-seconds // 60), -(-seconds // 3600)
    if minutes <= 60:
        return ngettext("%d minute", "%d minutes", minutes) % minutes
    return ngettext("%d hour", "%d hours", hours) % hours


@never_cache
@require_http_methods(["GET", "POST"])
def enter_code(request: HttpRequest) -> HttpResponse:
    email = request.session.get(_EMAIL)
    if not email:
        return redirect("sign-in")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            signed_in = sign_in.by_code(
                request=request,
                email=email,
                code=form.cleaned_data["code"],
                confirm=request.session.get(_CONFIRM, False),
            )
        except codes.CodeRefused:
            form.add_error("code", _WRONG_CODE)
        except invites.InviteGone:
            return _invite_gone(request)
        else:
            return _arrive(request) if signed_in else redirect("second-factor")
    status = 422 if form.errors else 200
    shown = {"form": form, "email": email, "joins": request.session.get(_JOINS)}
    return render(request, "accounts/code.html", shown, status=status)


@never_cache
@require_http_methods(["GET", "POST"])
def enter_app_code(request: HttpRequest) -> HttpResponse:
    try:
        person, secret = sign_in.waiting_person(request), sign_in.secret_to_enrol(request)
    except codes.NoPendingSignIn:
        return redirect("sign-in")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            sign_in.by_app(request=request, code=form.cleaned_data["code"], may_enrol=True)
        except second_factor.SecondFactorRefused as refused:
            form.add_error("code", refused.sentence)
        except invites.InviteGone:
            return _invite_gone(request)
        except codes.NoPendingSignIn:
            return redirect("sign-in")
        else:
            return _arrive(request)
    shown = {"form": form, "secret": secret, "qr_code": secret and second_factor.qr_code(person, secret)}
    return render(request, "accounts/second_factor.html", shown, status=422 if form.errors else 200)


def _arrive(request: HttpRequest) -> HttpResponse:
    """Redirect to the page the person wanted, if it is one of ours."""
    request.session.pop(_EMAIL, None)
    request.session.pop(_CONFIRM, None)
    request.session.pop(_JOINS, None)
    wanted = request.session.pop(_NEXT, "")
    here = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return redirect(wanted if here else "admin:index")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    sessions.sign_out(request=request)
    return redirect("sign-in")


@never_cache
@require_http_methods(["GET", "POST"])
def accept_invite(request: HttpRequest, token: str) -> HttpResponse:
    try:
        invite = invites.open_invite(token)
        if request.method == "GET":
            return render(request, "accounts/invite.html", {"invite": invite})
        browser = browser_of(request)
        invites.request_code(token=token, client=client_ip.network(request), browser=browser)
    except invites.InviteGone:
        return _invite_gone(request)
    except codes.TooManyRequests as refusal:
        shown = {"invite": invite, "wait": _in_words(refusal.retry_after or 0)}
        answer = render(request, "accounts/invite.html", shown, status=429)
        answer["Retry-After"] = str(refusal.retry_after)
        return answer
    request.session[_EMAIL], request.session[_NEXT], request.session[_CONFIRM] = invite.email, "", False
    request.session[_JOINS] = invite.organization.name
    asked = redirect("enter-code")
    remember(asked, browser)
    return asked


def _invite_gone(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/invite_gone.html", status=410)


@never_cache
@login_required
@require_GET
def my_sessions(request: HttpRequest) -> HttpResponse:
    mine = sessions.of_person(request).order_by("-last_seen_at")
    shown = {
        "sessions": mine,
        "current": request.session.session_key,
    }
    return render(request, "accounts/sessions.html", shown)


@login_required
@require_POST
def pick_organization(request: HttpRequest) -> HttpResponse:
    """Choose the organization to act in or, as an operator of the platform, to look at."""
    asked = request.POST.get("organization")
    picked = next((row for row in selectors.organizations(request) if str(row.pk) == asked), None)
    if picked is None:
        raise Http404
    request.session[selectors.SESSION_ORGANIZATION] = asked
    return redirect("admin:index")


@login_required
@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    session = get_object_or_404(sessions.of_person(request), pk=pk)
    sessions.end(session=session, because="revoked")
    return redirect("my-sessions")


@login_required
@require_POST
def first_step(request: HttpRequest, flag: str) -> HttpResponse:
    caller = selectors.signed_in_caller(request)
    if caller is None or flag not in ("dismissed", "opened", "verified"):
        raise Http404
    services.update_onboarding(caller=caller, flags={flag: True})
    return redirect("admin:decisions_decision_changelist" if flag == "opened" else "admin:index")

from datetime import date
from typing import Any

import structlog
from babel import Locale
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from config import client_ip
from config.errors import Fault, NotFound
from custody import selectors as custody
from custody.models import Key
from notices import asserted, selectors, services
from notices.errors import NoReviewOffered, TooManyTries, WrongCode
from notices.letters.labels import language_of, languages
from notices.localization import catalog
from notices.models import Notice, ReviewRequest
from notices.packs import base_language
from notices.public import code_limits
from notices.public.forms import CodeForm, ReviewForm
from notices.public.html_digest import html_digest

log = structlog.get_logger("letters")

# Without connect-src, so that the browser itself blocks uploads of a file that is checked here.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def letter(request: HttpRequest, address: str) -> HttpResponse:
    """Show a letter's state and the review form to a visitor with the letter's address."""
    try:
        notice = selectors.published(address.lower())
    except NotFound:
        return _unknown(request)
    with translation.override(language_of(notice.language)):
        if notice.disposed_at:
            return _disposed(request, notice)
        if not _takes_requests(notice):
            return _letter(request, notice, None, status=409 if request.method == "POST" else 200)
        form = ReviewForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            return _ask_for_review(request, notice, form)
        return _letter(request, notice, form, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def standing(request: HttpRequest, address: str) -> HttpResponse:
    """Show the state of a letter's review request to a visitor with its code.

    Without the code, the page is the same with and without a request.
    """
    try:
        notice = selectors.published(address.lower())
    except NotFound:
        return _unknown(request)
    if notice.disposed_at or not _offers_review(notice):
        return redirect("letter", notice.address)
    with translation.override(language_of(notice.language)):
        form = CodeForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            return _show_standing(request, notice, form)
        return _ask_for_code(request, notice, form, status=422 if form.errors else 200)


def _show_standing(request: HttpRequest, notice: Notice, form: CodeForm) -> HttpResponse:
    try:
        with code_limits.counted(notice, client_ip.network(request)):
            asked = services.newest_request(notice=notice, **form.cleaned_data)
    except (WrongCode, TooManyTries, Fault) as error:
        return _ask_for_code(request, notice, form, **_refusal(notice, form, error))
    if asked is None:
        form.add_error(None, _("No review has been requested with this letter yet."))
        return _ask_for_code(request, notice, form, status=404)
    return _answer(request, "request", {**_frame(notice), **_request(asked), "state": asked.state})


def _ask_for_code(
    request: HttpRequest, notice: Notice, form: CodeForm, *, status: int, retry_after: int | None = None
) -> HttpResponse:
    return _answer(request, "request", {**_frame(notice), "form": form}, status=status, retry_after=retry_after)


def _ask_for_review(request: HttpRequest, notice: Notice, form: ReviewForm) -> HttpResponse:
    started = timezone.now()
    try:
        with code_limits.counted(notice, client_ip.network(request)):
            review_request = services.request_review(notice=notice, **form.cleaned_data)
    except NoReviewOffered:  # the notice was withdrawn meanwhile
        return _letter(request, notice, None, status=409)
    except (WrongCode, TooManyTries, Fault) as error:
        return _letter(request, notice, form, **_refusal(notice, form, error))
    context = {
        **_frame(notice),
        **_request(review_request),
        "is_new": review_request.received_at >= started,
        "is_mailed": bool(review_request.email),
    }
    return _answer(request, "taken", context)


def _refusal(notice: Notice, form: CodeForm | ReviewForm, error: WrongCode | TooManyTries | Fault) -> dict[str, Any]:
    """Add the error to the form. Return the status of the answer, and when to retry."""
    if isinstance(error, WrongCode):
        form.add_error(
            "code", _("That code does not match this letter. The code is in the box at the end of the letter.")
        )
    elif isinstance(error, TooManyTries):
        form.add_error(
            None,
            _("The code was wrong too often. Wait an hour, then send it again. What you typed is still here."),
        )
    else:
        log.error("a request for review cannot be read or kept", notice=str(notice.pk), exc_info=error)
        form.add_error(
            None,
            _(
                "The service does not work at the moment, and nothing was done. Try again in a few minutes. "
                "What you typed is still here."
            ),
        )
    return {"status": error.status, "retry_after": error.retry_after}


def _letter(
    request: HttpRequest, notice: Notice, form: ReviewForm | None, *, status: int = 200, retry_after: int | None = None
) -> HttpResponse:
    context = {**_frame(notice), "state": _state(notice), "form": form, "offers_review": _offers_review(notice)}
    try:
        context |= _confirmed(notice)
    except Fault as error:  # only a state that invalidates the letter is still shown
        log.error("a sealed notice cannot be read", notice=str(notice.pk), exc_info=error)
        if context["state"] == "in_force":
            context["state"] = "unreadable"
        if status == 200:
            status, retry_after = error.status, error.retry_after
    return _answer(request, "letter", context, status=status, retry_after=retry_after)


def _disposed(request: HttpRequest, notice: Notice) -> HttpResponse:
    """Show the verified disposal of a letter whose words are destroyed."""
    context: dict[str, Any] = {**_frame(notice), "state": "disposed", "headings": _headings(notice)}
    status = 410 if request.method == "POST" else 200
    try:
        receipt = custody.receipt(notice.sealed.record)
    except Fault as error:
        log.error("a disposal cannot be confirmed", notice=str(notice.pk), exc_info=error)
        return _answer(request, "letter", {**context, "state": "unreadable"}, status=error.status)
    if disposal := receipt.disposal:
        context |= {
            "sealed": _day(receipt.received_at.date(), notice),
            "destroyed": _day(disposal.disposed_at.date(), notice),
            "disposal": disposal,
            "was_withdrawn": notice.state == Notice.State.WITHDRAWN,
        }
    if digest := notice.sealed.letter_digest:
        context["published"] = _published(notice, digest, "")
    return _answer(request, "letter", context, status=status)


def _published(notice: Notice, digest: str, html: str) -> dict[str, Any]:
    """Return the digests and keys with which a browser checks a letter's file."""
    keys = notice.organization.custody_keys.filter(purpose=Key.Purpose.SIGNING).order_by("pk")
    pems = [{"id": key.key_id, "pem": key.public_pem} for key in keys]
    return {"digest": digest, "html_digest": html, "keys": pems}


def _headings(notice: Notice) -> Any:
    return languages()[base_language(notice.language)]


def _confirmed(notice: Notice) -> dict[str, Any]:
    """Return the page's statements about the letter. Raises Fault.

    They come from the sealed notice, because rows of the database can be changed.
    """
    sealed, language = selectors.sealed_content(notice), base_language(notice.language)
    key = asserted.key_of(sealed["approval"]["basis"])
    return {
        "asserted": _headings(notice)["asserted"].format(key=key) if key else "",
        "approved": _day(selectors.approved_on(sealed), notice),
        "spoken": Locale(language).get_display_name(language),
        "framework": sealed["letter"]["content"]["framework"],
        "headings": _headings(notice),
        "published": _published(notice, sealed["letter_digest"], _html_digest(notice)),
    }


def _html_digest(notice: Notice) -> str:
    """Return the digest of the HTML file, or "" if the approved words differ from the sealed ones.

    The proof can be checked without the digest.
    """
    try:
        return html_digest(selectors.letter(notice))
    except Fault as error:
        log.warning("a letter cannot be read", notice=str(notice.pk), exc_info=error)
        return ""


def _frame(notice: Notice) -> dict[str, Any]:
    return {
        "language": language_of(notice.language),
        "organization": notice.organization.name,
        "address": notice.address,
    }


def _request(asked: ReviewRequest) -> dict[str, str | None]:
    """Return the number and days of a request for review."""
    days = {"received": asked.received_at, "due": asked.due_at, "told": asked.told_at, "closed": asked.closed_at}
    return {
        "number": f"R-{asked.pk}",
        **{name: _day(at.date(), asked.notice) if at else None for name, at in days.items()},
    }


def _unknown(request: HttpRequest) -> HttpResponse:
    return _answer(
        request, "unknown", {"languages": sorted(languages(), key=lambda code: (code != "en", code))}, status=404
    )


def _answer(
    request: HttpRequest, page: str, context: dict[str, Any], *, status: int = 200, retry_after: int | None = None
) -> HttpResponse:
    response = render(request, f"notices/public_{page}.html", context, status=status)
    response["Content-Security-Policy"] = _POLICY
    response["X-Robots-Tag"] = "noindex, nofollow"
    if retry_after:
        response["Retry-After"] = str(retry_after)
    return response


def _takes_requests(notice: Notice) -> bool:
    return _offers_review(notice) and _state(notice) == "in_force"


def _offers_review(notice: Notice) -> bool:
    return notice.approval.revision.content["human_review_available"] is True


def _state(notice: Notice) -> str:
    if notice.successors.filter(state__in=Notice.FINISHED).exists():
        return "replaced"
    return "in_force" if notice.state in Notice.FINISHED else "withdrawn"


def _day(day: date, notice: Notice) -> str:
    return catalog(base_language(notice.language), selectors.locale_of(notice)).format_date(day)

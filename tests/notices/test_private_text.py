"""Recipients and the texts people write are in no log, audit detail, error or exception report.

Each text has a mark, and everything stored or printed is searched for the marks.
"""

import json

import pytest
from django.core import serializers

from accounts.models import AuditEvent
from notices import tasks
from notices.models import Delivery, Notice, ReviewRequest
from tests.notices.conftest import RECORD, approve, done, drafted, edit, exempt, send, step, warnings_of
from tests.notices.test_review_requests import ask, code_of
from tests.smtp_server import mail_server

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014:ResourceWarning"),  # as test_letter_pdf says
]

MARK = "canary-5Tn8wQ"
ADDRESS = f"{MARK}@home.example"
RECIPIENT = {"name": f"{MARK} Person", "address": f"{MARK} Street", "email": ADDRESS, "reference": f"{MARK}-7"}


def whole_life(api) -> list:
    """Act on a notice in every way, with a mark in every text. Return the responses that refuse something."""
    api.ingest(RECORD)
    notice = drafted(api, recipient=RECIPIENT)
    path = f"notices/{notice['notice_id']}"
    done(edit(api, notice, title=MARK, human_review_available=True))
    done(exempt(api, notice, inputs=f"{MARK} none"))
    step(api, notice, "submit")
    done(step(api, notice, "request-changes", {"reason": f"{MARK} is wrong"}))
    done(approve(api, notice, comment=MARK, acknowledge=warnings_of(api, notice)))
    done(step(api, notice, "deliveries", {"channel": "email"}))
    returned = done(step(api, notice, "deliveries", {"channel": "post", "address": MARK, "reference": MARK}))
    done(step(api, notice, f"deliveries/{returned['delivery_id']}/return", {"reason": f"{MARK} moved"}))
    asked = ask(api, notice, message=MARK, email=ADDRESS)
    for form in ("html", "text", "proof"):
        api.get(f"/v1/{path}/letter", format=form)
    refused = [
        send(api, "POST", "decisions/loan-1/notices", {"recipient": MARK}),
        send(api, "POST", "decisions/loan-1/notices", {"recipient": RECIPIENT, "pack": "nowhere"}),
        edit(api, notice, title=MARK),
        edit(api, notice, title=[MARK]),
        edit(api, notice, main_factors=[{"statement": [MARK], "source": MARK}]),
        exempt(api, notice, inputs=[MARK]),
        exempt(api, notice, inputs=MARK * 1000),
        step(api, notice, "approve", {"comment": [MARK]}),
        step(api, notice, "request-changes", {"reason": MARK}),
        step(api, notice, "request-changes", {"reason": [MARK]}),
        step(api, notice, "deliveries", {"channel": "email", "address": f"{MARK} no-address"}),
        step(api, notice, "deliveries", {"channel": "post", "address": MARK * 200}),
        step(api, notice, "deliveries", {"channel": "post", "reference": MARK * 200}),
        step(api, notice, f"deliveries/{returned['delivery_id']}/return", {"reason": f"{MARK} again"}),
        send(api, "POST", f"review-requests/{asked.pk}/close", {"reason": [MARK]}),
        api.client.generic("PATCH", f"/v1/{path}", MARK.encode(), content_type="application/json"),
        api.client.generic("PATCH", f"/v1/{path}", b'{"%s": 1, "%s": 2}' % ((MARK.encode(),) * 2),
                           content_type="application/json"),
    ]  # fmt: skip
    done(send(api, "POST", f"review-requests/{asked.pk}/close", {"reason": f"{MARK} called"}))
    return refused


@pytest.mark.parametrize("answer", ["refused", "busy"])
def test_no_refusal_audit_event_or_log_contains_private_text(api, settings, capfd, answer):
    settings.DEBUG = True
    with mail_server() as smtp:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", smtp.port
        setattr(smtp, answer, {ADDRESS})
        for refusal in whole_life(api):
            assert refusal.status_code in (409, 422), refusal.content
            assert MARK not in refusal.content.decode()
        tasks.deliver_letters()
        assert smtp.taken == []
    output = "".join(capfd.readouterr())
    assert ("mail not taken" in output) == (answer == "busy")
    assert MARK not in output
    events = json.dumps(list(AuditEvent.objects.values()), default=str)
    assert "notice.returned" in events
    assert MARK not in events
    rows = serializers.serialize("json", [*Notice.objects.all(), *Delivery.objects.all(), *ReviewRequest.objects.all()])
    assert MARK in rows, "the search would not find what is there"


def test_an_internal_error_contains_no_private_text(api, capfd, monkeypatch):
    api.ingest(RECORD)
    notice = drafted(api, recipient=RECIPIENT)

    def fail(*_: object) -> None:
        raise RuntimeError(MARK)

    monkeypatch.setattr("notices.checklist.cited_values", fail)
    answer = edit(api, notice, title=MARK)
    assert answer.status_code == 500
    assert MARK not in answer.content.decode() + "".join(capfd.readouterr())


def test_the_code_of_a_letter_is_in_the_letter_alone(api, capfd):
    api.ingest(RECORD)
    notice = drafted(api)
    edit(api, notice, human_review_available=True)
    approved = done(approve(api, notice, acknowledge=warnings_of(api, notice)))
    code = code_of(api, notice)
    ask(api, notice)
    texts = [
        *api.get("/v1/review-requests").content.decode().splitlines(),
        json.dumps(approved),
        api.get(f"/v1/notices/{notice['notice_id']}/letter", format="proof").content.decode(),
        *capfd.readouterr(),
        json.dumps(list(AuditEvent.objects.values()), default=str),
        serializers.serialize("json", [*Notice.objects.all(), *ReviewRequest.objects.all()]),
    ]
    for spelled in (code, code.replace("-", "")):
        assert not [place for place in texts if spelled in place]

"""Filling of an empty installation with rows of every kind, and a file of the facts that a later version must find.

Run `python -m tests.upgrade.installation` with DATA_DIR and, for PostgreSQL, DATABASE_URL in the environment.
"""

import json
import os
import re
from typing import Any
from urllib.parse import quote

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import pyotp  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from accounts import audit, callers, services  # noqa: E402
from accounts.models import Member, Organization  # noqa: E402
from accounts.roles import Role  # noqa: E402
from custody.models import Key  # noqa: E402
from notices.phrasebook_csv import COLUMNS, read_table  # noqa: E402
from notices.services import put_phrases  # noqa: E402
from tests.people import Browser, accept_by_api, ask_for_code, mailed_token, sign_in  # noqa: E402

OWNER, APPROVER, EDITOR = (f"{name}@bank.example" for name in ("owner", "approver", "editor"))
ODD = "odd/\"id\"/../with \\ %2F?a=b&c#; 'quotes', tab\t, \u2028 and ünïcødé 🙂/"
CLAIM = {"approver": "Reviewer 7", "authority": "credit officer"}
REVIEWED = {
    "requested_by": "the applicant",
    "reviewer": "A. Reviewer",
    "reviewer_authority": "credit officer",
    "evidence_considered": ["payslip 7"],
    "outcome": "overturned",
    "rationale": "The payslip shows a higher income.",
    "new_action": "approved",
}


def record(decision_id: str) -> str:
    """Return a record with spaces and digits that only its exact bytes preserve."""
    return f"""{{ "decision_id" : {json.dumps(decision_id, ensure_ascii=False)},
  "decided_at": "2026-03-02T10:00:00Z", "subject": {{"reference": "file 4711"}},
  "events": {{"application": {{"income_eur": 31000, "payments_to_income": 0.460, "large": 9007199254740993}}}},
  "outcome": {{"action": "denied", "reasons": ["Payments are 46 % of income; the limit is 40 %."]}} }}"""


class Installation:
    """An organization, filled through the API and by its people. `facts` are for the test."""

    def __init__(self) -> None:
        call_command("migrate", verbosity=0)
        self.organization: Organization = services.create_organization(
            name="Example Bank", owner_email=OWNER, actor=audit.SYSTEM
        )
        for email, role in ((APPROVER, Role.APPROVER), (EDITOR, Role.EDITOR)):
            services.add_member(caller=callers.system(self.organization.pk), email=email, role=role)
        _, self.token = services.create_api_key(
            caller=callers.system(self.organization.pk), name="upgrade", role=Role.OWNER
        )
        self.client = Client(headers={"Authorization": f"Bearer {self.token}"})
        self.facts: dict[str, Any] = {"key": self.token, "records": {}, "receipts": {}, "notices": {}}

    def call(self, method: str, path: str, body: Any = None, *, status: tuple[int, ...] = (200, 201)) -> Any:
        raw = body if isinstance(body, str) else json.dumps({} if body is None else body)
        answer = self.client.generic(method, f"/v1/{path}", raw, content_type="application/json")
        assert answer.status_code in status, answer.content
        return answer.json()

    def take(self, decision_id: str) -> str:
        self.call("POST", "ingest/srf", record(decision_id))
        self._remember(decision_id)
        return decision_id

    def reconsider(self, decision_id: str) -> str:
        review = self.call("POST", f"decisions/{quote(decision_id, safe='')}/reconsideration", REVIEWED)
        self._remember(review["decision_id"])
        return review["decision_id"]

    def draft(self, decision_id: str, **body: Any) -> str:
        recipient = {"name": "Example Person", "address": ["2 Example Street"], "email": "person@home.example"}
        path = f"decisions/{quote(decision_id, safe='')}/notices"
        return self.call("POST", path, {"recipient": recipient, **body})["notice_id"]

    def step(self, notice: str, name: str, body: Any = None) -> Any:
        return self.call("POST", f"notices/{notice}/{name}", body)

    def _remember(self, decision_id: str) -> None:
        path = f"/v1/decisions/{quote(decision_id, safe='')}"
        self.facts["records"][decision_id] = self.client.get(f"{path}/record").content.decode()
        self.facts["receipts"][decision_id] = self.client.get(f"{path}/receipt").json()

    def describe(self) -> dict[str, Any]:
        """Return the facts, with the final state of the notices."""
        for name, notice in self.facts["notices"].items():
            self.facts["notices"][name] = self.call("GET", f"notices/{notice}")
        (key,) = Key.objects.filter(purpose=Key.Purpose.SIGNING)
        self.facts["public_key_pem"] = key.public_pem
        return self.facts


def decisions(installation: Installation) -> None:
    for vault in ("database", "filesystem"):
        call_command("custody_create_vault", provider=vault, verbosity=0)
        for name in ("plain", "told", "reviewed"):
            installation.take(f"{vault}-{name}")
        installation.take(f"{vault}-{ODD}")
        installation.reconsider(installation.reconsider(f"{vault}-reviewed"))
    left_reserved(installation)


def left_reserved(installation: Installation) -> None:
    """Reserve a record while the vault is missing, as a crash may leave one."""
    vault, elsewhere = settings.DATA_DIR / "vault", settings.DATA_DIR / "elsewhere"
    vault.rename(elsewhere)
    vault.touch()  # a file in place of the directory makes every put fail
    installation.call("POST", "ingest/srf", record("reserved"), status=(503,))
    vault.unlink()
    elsewhere.rename(vault)
    installation.facts["reserved"] = {"decision_id": "reserved", "record": record("reserved")}


def notices(installation: Installation, approver: Browser) -> None:
    header = ",".join(COLUMNS)
    row = "en,events.application.income_eur,Your yearly income is {value}.,,no,legal,3"
    put_phrases(caller=callers.system(installation.organization.pk), phrases=read_table([header, row]))
    grant = {"email": APPROVER, "authority": "credit officer", "valid_from": "2026-01-01", "evidence": "minutes 4"}
    installation.facts["grant"] = installation.call("POST", "authority-grants", grant)["grant_id"]

    ids = installation.facts["notices"]
    ids["draft"] = installation.draft("database-plain")
    waived = {"elements": {"inputs": "None were used."}}
    installation.call("PUT", f"notices/{ids['draft']}/not-applicable", waived)
    ids["in_review"] = installation.draft(f"filesystem-{ODD}")
    installation.step(ids["in_review"], "submit")
    for name, decision_id in (("approved", "filesystem-told"), ("delivered", "database-told")):
        call_command("custody_create_vault", provider=decision_id.partition("-")[0], verbosity=0)
        ids[name] = installation.draft(decision_id)
        review = {"human_review_available": True, "how_to_request_review": "Write to us."}
        installation.call("PATCH", f"notices/{ids[name]}", {"content": review})
        answer = approver.call("POST", f"/v1/notices/{ids[name]}/approve", {"authority": "credit officer"})
        assert answer.status_code == 200, answer.content
    installation.step(ids["delivered"], "deliveries", {"channel": "post", "reference": "EX-0001"})
    ids["withdrawn"] = installation.draft("database-reviewed")
    installation.step(ids["withdrawn"], "approve", CLAIM)
    installation.step(ids["withdrawn"], "withdraw", {"reason": "Sent to the wrong person."})
    ids["new version"] = installation.step(ids["delivered"], "versions")["notice_id"]
    ask_for_review(installation, ids["delivered"])


def ask_for_review(installation: Installation, notice: str) -> None:
    letter = installation.client.get(f"/v1/notices/{notice}/letter", {"format": "text"}).content.decode()
    code = re.search(r"(?<![\w-])[A-Z2-7]{4}-[A-Z2-7]{4}(?![\w-])", letter).group()
    page = re.search(r"/n/\w{12}\b", letter).group()
    answer = Browser().submit(page, code=code, message="My income is higher.", email="person@home.example")
    assert answer.status_code == 200
    installation.facts["public"] = {"page": page, "code": code}


def people(installation: Installation) -> None:
    installation.call("POST", "auth/api-keys", {"name": "in use"})
    revoked = installation.call("POST", "auth/api-keys", {"name": "revoked"})
    installation.call("DELETE", f"auth/api-keys/{revoked['key_id']}")
    installation.call("POST", "auth/invites", {"email": "open@bank.example", "role": "auditor"})
    installation.call("POST", "auth/invites", {"email": "auditor@bank.example", "role": "auditor"})
    auditor = "auditor@bank.example"
    assert accept_by_api(Browser(), mailed_token(auditor), auditor).status_code == 200
    Organization.objects.update(second_factor_required=True)
    browser = Browser()
    assert browser.submit("/sign-in/code/", code=ask_for_code(browser, APPROVER))["Location"] == "/sign-in/app/"
    secret = re.search(r'class="secret">([A-Z2-7]+)<', browser.get("/sign-in/app/").content.decode()).group(1)
    assert browser.submit("/sign-in/app/", code=pyotp.TOTP(secret).now())["Location"] == "/admin/"
    installation.facts["second_factor"] = {"email": APPROVER, "secret": secret}
    assert Member.objects.count() == 4


def main() -> None:
    setup_test_environment()  # mails go to a list in memory
    installation = Installation()
    decisions(installation)
    notices(installation, sign_in(APPROVER))
    people(installation)
    (settings.DATA_DIR / "told.json").write_text(json.dumps(installation.describe(), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()

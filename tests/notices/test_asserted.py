"""An approval by a key is shown everywhere as asserted by the key, without a second person."""

import re
from io import BytesIO

import pytest
from pypdf import PdfReader

from accounts.roles import Role
from notices import asserted
from notices.models import Approval
from tests.notices.conftest import approve_acknowledged, done, drafted, shown, step, warnings_of
from tests.notices.test_letter_pdf import pdf_text
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

SENTENCES = {
    "en": "asserted by key {}, no second person",
    "de": "behauptet von Schlüssel {}, keine zweite Person",
    "fr": "affirmée par la clé {}, sans seconde personne",
}


def plain(text: str) -> str:
    return re.sub(r"[\s\u2066-\u2069]+", " ", text)


@pytest.mark.parametrize("language", SENTENCES)
def test_letter_public_page_and_api_say_that_a_key_asserted_the_approval(api, client, notice, language):
    drawn = drafted(api, recipient={"language": language})
    answered = done(approve_acknowledged(api, drawn))
    key = re.fullmatch(r"asserted by key (\w+), no second person", answered["approval"]["basis"])[1]
    assert key in api.token
    sentence = SENTENCES[language].format(key)
    letter = f"/v1/notices/{drawn['notice_id']}/letter"
    for form in ("html", "text"):
        assert sentence in plain(api.get(letter, format=form).content.decode()), form
    pdf = PdfReader(BytesIO(api.get(letter, format="pdf").content))
    assert sentence in plain(pdf_text(pdf))
    address = answered["public_address"].rpartition("/n/")[2]
    assert sentence in plain(client.get(f"/n/{address}").content.decode())


def test_an_approval_by_a_signed_in_member_says_nothing_of_keys(api, client, notice, signed_in):
    browser = signed_in(Role.APPROVER)
    answered = done(step(browser, notice, "approve", {"acknowledge": warnings_of(api, notice)}))
    assert answered["approval"]["basis"] == "signed in"
    address = answered["public_address"].rpartition("/n/")[2]
    for path in (f"/n/{address}", f"/v1/notices/{notice['notice_id']}/letter"):
        assert "no second person" not in (client if path.startswith("/n/") else api.client).get(path).content.decode()


def test_an_approval_from_before_says_it_too(api, notice):
    done(approve_acknowledged(api, notice))
    key = asserted.key_of(Approval.objects.get().basis)
    with unguarded():
        Approval.objects.update(basis=f"asserted by key {key}")
    assert shown(api, notice)["approval"]["basis"] == f"asserted by key {key}, no second person"
    assert (asserted.key_of(f"asserted by key {key}"), asserted.full("signed in")) == (key, "signed in")

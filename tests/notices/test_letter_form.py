# ruff: noqa: RUF001 - real apostrophes, and scripts of either direction
"""The form of a letter: greeting, signature, one sender, the reference, and text that stays in its place."""

import os
from pathlib import Path

import pytest
from django.core.checks import run_checks

from notices import letters, selectors, services
from notices.bidi import carried, contained
from notices.letters import fonts
from notices.letters.labels import languages
from notices.models import Approval
from notices.public.html_digest import html_digest
from tests.notices.conftest import RECORD, approve, done, drafted, send, shown, stored
from tests.notices.drafts import drafted as draft_of
from tests.notices.test_letter_pdf import pdf_text as printed
from tests.notices.test_letter_pdf import read as read_pdf
from tests.notices.test_letters import element_text, headings, letter, page
from tests.support.unguarded import unguarded

FSI, PDI, RLO, PDF, RLM = "\u2068", "\u2069", "\u202e", "\u202c", "\u200f"
LANGUAGES = ["en", "de", "fr"]
SIGNATORY = {"name": "Kim Example", "function": "Head of Credit Decisions", "telephone": "+1 555 0100"}
ROOT = Path(__file__).parents[2]


def lines(read, name: str) -> list[str]:
    return [element_text(line) for line in page(read).iterfind(f".//p[@class='{name}']/span")]


# ── greeting and signature ──


@pytest.mark.parametrize(
    ("language", "named", "unnamed"),
    [
        ("en", "Dear Avery Example,", "Dear Sir or Madam,"),
        ("de", "Guten Tag Avery Example,", "Guten Tag,"),
        ("fr", "Bonjour Avery Example,", "Madame, Monsieur,"),
    ],
)
def test_a_letter_greets_the_person_by_name_if_it_has_one(language, named, unnamed):
    for recipient, greeting in (({"name": " Avery Example\nand more"}, named), ({}, unnamed), ({"name": 7}, unnamed)):
        read = letter({"language": language}, recipient=recipient)
        assert element_text(page(read).find(".//p[@class='greeting']")) == greeting
        assert f"\n\n{greeting}\n\n" in letters.render_text(read)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_signatory_signs_with_function_and_telephone(language):
    words = languages()[language]
    read = letter({"language": language}, signatory=SIGNATORY)
    expected = [words["closing"], "Kim Example", "Head of Credit Decisions"]
    telephone = words["fact"].format(label=words["telephone"], value="+1 555 0100")
    assert lines(read, "closing") == [*expected, telephone]
    assert "\n".join([*expected, telephone]) in letters.render_text(read)


@pytest.mark.parametrize("signatory", [{}, {"telephone": "+1 555 0100"}, {"name": "", "function": None}, {"name": [7]}])
def test_without_a_signatory_the_organization_signs(signatory):
    assert lines(letter(signatory=signatory), "closing")[:2] == ["Yours sincerely,", "Example Bank"]


@pytest.mark.django_db
def test_the_signatory_is_a_setting_and_sealed_with_the_letter(api):
    done(send(api, "PUT", "notice-settings", {"default_pack": "general", "signatory": SIGNATORY}))
    done(api.ingest(RECORD))
    notice = drafted(api)
    assert "Kim Example" in api.get(f"/v1/notices/{notice['notice_id']}/letter?format=text").content.decode()
    done(approve(api, notice))
    done(send(api, "PUT", "notice-settings", {"default_pack": "general", "signatory": {"name": "Sam Other"}}))
    text = api.get(f"/v1/notices/{notice['notice_id']}/letter?format=text").content.decode()
    assert "Kim Example\nHead of Credit Decisions\nTelephone: +1 555 0100" in text
    assert api.get(f"/v1/notices/{notice['notice_id']}/letter?format=proof").json()["signatory"] == SIGNATORY


@pytest.mark.django_db
def test_a_letter_from_before_signatories_still_opens_and_is_confirmed(api, monkeypatch):
    monkeypatch.setattr("notices.services.review.seal_approved", lambda **_: 0)
    done(api.ingest(RECORD))
    notice = drafted(api)
    done(approve(api, notice))
    monkeypatch.undo()
    with unguarded():
        Approval.objects.update(signatory=None)
    services.seal_approved()
    assert "signatory" not in api.get(f"/v1/notices/{notice['notice_id']}/letter?format=proof").json()
    for form in ("html", "text"):
        assert api.get(f"/v1/notices/{notice['notice_id']}/letter?format={form}").status_code == 200
    assert html_digest(selectors.letter(stored(api, notice)))


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [{"name": "a\nb"}, {"name": "x" * 81}, {"telephone": 7}, "Kim", {"function": "\x00"}])
def test_a_signature_is_lines_of_text(api, wrong):
    assert send(api, "PUT", "notice-settings", {"default_pack": "general", "signatory": wrong}).status_code == 422


# ── sender and reference ──


@pytest.mark.parametrize(
    "contact",
    [
        "Example Bank, 1 Harbour Street\nSpringfield",
        "EXAMPLE BANK\n1 Harbour Street\nSpringfield",
        "Example Bank – 1 Harbour Street\nSpringfield\nExample Bank",
        "1 Harbour Street\nSpringfield",
    ],
)
def test_the_sender_is_in_one_block_and_named_once(contact):
    read = letter(sender=contact)
    assert lines(read, "sender") == ["Example Bank", "1 Harbour Street", "Springfield"]
    head = letters.render_text(read).split("\n\n")[0]
    assert head == "Example Bank\n1 Harbour Street\nSpringfield"
    assert len(page(read).findall(".//header/p")) == 1


def test_a_name_that_only_begins_like_the_sender_stays():
    assert lines(letter(sender="Example Bankers Hall"), "sender") == ["Example Bank", "Example Bankers Hall"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reference", "recipient", "printed"),
    [
        ("A-118", {}, "A-118"),
        (118, {}, "118"),
        ("A-118", {"reference": "B-7"}, "B-7"),
        ("A-118", {"reference": ""}, None),
        ("078-05-1120", {}, None),
        ("x" * 257, {}, None),
        (True, {}, None),
        ({"a": 1}, {}, None),
        ("  ", {}, None),
    ],
)
def test_the_person_s_own_reference_is_printed(api, reference, recipient, printed):
    done(api.ingest({**RECORD, "subject": {"reference": reference}}))
    notice = drafted(api, recipient=recipient)
    text = api.get(f"/v1/notices/{notice['notice_id']}/letter?format=text").content.decode()
    assert (f"Your reference: {printed}\n" in text) if printed else ("Your reference" not in text)
    assert shown(api, notice)["recipient"].get("reference") in (printed, recipient.get("reference"))


# ── headings ──


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_heading_claims_that_all_information_was_used(language):
    read = letter({"language": language})
    heading = languages()[language]["inputs_used"]
    assert heading in headings(read)
    assert not any(claim in heading.lower() for claim in ("used", "verwendet", "benutzt", "utilis"))


# ── direction ──


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("קרן loan", "קרן loan"),
        (f"to {FSI}קרן{PDI} loan", f"to {FSI}קרן{PDI} loan"),
        (f"to {FSI}a{RLO}b{PDI} loan", f"to {FSI}a{RLO}b{PDI} loan"),
        (f"a{RLO}b", f"{FSI}a{RLO}b{PDI}"),
        (f"a{RLO}b{PDF}", f"{FSI}a{RLO}b{PDF}{PDI}"),
        (f"a{RLM}", f"{FSI}a{RLM}{PDI}"),
        (f"a{PDI}b", "ab"),
        (f"a{FSI}b", f"a{FSI}b{PDI}"),
        (f"a{RLO}b\nc", f"{FSI}a{RLO}b{PDI}\nc"),
    ],
)
def test_bidirectional_controls_are_closed_within_their_text(text, expected):
    assert contained(text) == expected
    assert contained(expected) == expected


def test_controls_are_closed_at_a_line_break_and_reopened_after_it():
    wrapped = carried([f"a {FSI}b {RLO}c", "d", f"e{PDI} f"])
    assert wrapped == [f"a {FSI}b {RLO}c{PDF}{PDI}", f"{FSI}{RLO}d{PDF}{PDI}", f"{FSI}{RLO}e{PDI} f"]


def reaches_out(line: str) -> bool:
    """Whether a bidirectional control affects text outside its line's isolates, or an isolate stays open."""
    depth = 0
    for character in line:
        if character in "\u2066\u2067\u2068":
            depth += 1
        elif character == PDI:
            depth -= 1
        elif not depth and character in "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e":
            return True
    return depth != 0


ATTACK = f"one {RLO}two{PDI}{PDI} three 12 {RLM} \u2067 four"


def test_no_control_of_any_part_reaches_out_of_it_in_text_or_html():
    statement = [{"statement": f"{ATTACK} {'word ' * 40}", "source": f"events.{ATTACK}"}]
    content = dict.fromkeys(
        ("title", "how_to_request_inputs", "how_to_request_review", "deadline_note", "framework"), ATTACK
    )
    content |= {"rights": [ATTACK], **dict.fromkeys(("decision_summary", "main_factors"), statement)}
    recipient = {"name": ATTACK, "address": [ATTACK], "reference": ATTACK}
    read = letter(
        content,
        recipient=recipient,
        organization=ATTACK,
        sender=f"street {ATTACK}",
        signatory=dict.fromkeys(SIGNATORY, ATTACK),
    )
    assert not [line for line in letters.render_text(read).split("\n") if reaches_out(line)]
    html = page(read)
    parts = [
        element for element in html.iter() if element.tag in ("p", "span", "li", "dd", "h1", "code", "bdi", "title")
    ]
    assert sum(RLO in element_text(part) for part in parts) > 12
    assert not [element_text(part) for part in parts if reaches_out("".join(part.itertext()))]


def test_a_value_of_the_record_stays_in_its_place_wherever_a_letter_says_it():
    agency = {"name": ATTACK, "address": ATTACK, "telephone": ATTACK}
    outcome = {"action": "denied", "consumer_report_used": True, "reasons": [ATTACK], "conditions": [ATTACK]}
    record = {"events": {"consumer_report": {"agency": agency, ATTACK: 7, "memo": ATTACK}}, "outcome": outcome}
    content = draft_of(record, "us_ecoa_fcra")
    texts = [
        *content["rights"],
        *(item["statement"] for name in ("decision_summary", "main_factors", "inputs_used") for item in content[name]),
    ]
    assert sum("two" in text for text in texts) > 3
    assert not [text for text in texts if reaches_out(text)]


# ── fonts ──


def test_the_image_and_the_script_name_the_same_fonts_as_the_check():
    image, script = (ROOT / "Dockerfile").read_text("utf-8"), (ROOT / "tests/services.sh").read_text("utf-8")
    for package in fonts.PACKAGES:
        assert package in image
        assert f"need {package} " in script
        assert package in letters.NoPdfHere.sentence
        assert package in (ROOT / "docs/operations.md").read_text("utf-8")


def test_the_check_says_which_font_is_missing_and_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "fonts.conf").write_text("<fontconfig></fontconfig>", "utf-8")
    monkeypatch.setenv("FONTCONFIG_FILE", str(tmp_path / "fonts.conf"))
    messages = "\n".join(map(str, run_checks(include_deployment_checks=True)))
    for package in fonts.PACKAGES:
        assert f"apt-get install {package}" in messages


def test_without_fontconfig_no_font_is_reported_missing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert list(fonts.missing()) == []


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CI") and any(fonts.missing()), reason="fonts are missing")
def test_chinese_japanese_korean_and_emoji_are_printed():
    rights = ["決定 の理由 결정 ", "Paid \N{MAN} \N{GRINNING FACE}"]
    text = printed(read_pdf(letter({"rights": rights})))
    assert "\ufffd" not in text
    assert "決定" in text
    assert "\N{MAN}" in text

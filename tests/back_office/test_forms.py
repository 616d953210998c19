"""Forms, long ids and empty lists of the back office."""

import re
import uuid

import pytest
from django import forms
from django.contrib import admin
from django.template.loader import render_to_string

from accounts.back_office import copyable_id
from accounts.back_office.identifiers import is_long_id
from accounts.roles import Role
from accounts.templatetags.back_office import sections
from notices.forms import GrantForm, PhraseForm
from retention.back_office.forms import FilterHoldForm, PolicyForm

pytestmark = pytest.mark.django_db

RECORD_ID = "0b5e4f6a-5a4e-4f4b-9a43-3d6d3a9f0c11"


class _Form(forms.Form):
    sections = {"color": "Looks"}

    name = forms.CharField(help_text="Enter a name.")
    color = forms.CharField(required=False)
    is_new = forms.BooleanField(help_text="Tick for a new one.")


def rendered(form: forms.Form) -> str:
    return render_to_string("admin/fields.html", {"form": form})


def test_help_is_between_a_label_and_its_field_and_sections_have_titles():
    html = rendered(_Form())
    places = [
        html.index(part)
        for part in ("Name *", "Enter a name.", 'name="name"', "<legend>Looks", "Color", 'name="color"')
    ]
    assert places == sorted(places)
    assert [(title, [field.name for field in fields]) for title, fields in sections(_Form())] == [
        ("", ["name"]),
        ("Looks", ["color", "is_new"]),
    ]


def test_a_refused_form_lists_its_wrong_fields_with_links():
    html = rendered(_Form({"color": "red"}))
    assert "Correct these fields:" in html
    assert re.findall(r'<li><a href="#(\w+)">', html) == ["id_name", "id_is_new"]


@pytest.mark.parametrize("form", [FilterHoldForm, PolicyForm, PhraseForm, lambda: GrantForm(uuid.uuid4())])
def test_help_of_a_form_ends_as_a_sentence_and_begins_with_what_to_do(form):
    wrong = [
        field.help_text
        for field in form()
        if field.help_text
        and not re.match(r"(Enter|Name|Say|Give|Choose|Tick|Write|Fill in) .*\.$", str(field.help_text))
    ]
    assert wrong == []


def test_a_section_begins_with_a_field_of_its_form():
    form = FilterHoldForm()
    assert set(form.sections) < set(form.fields)


def test_an_id_is_whole_in_the_page_and_has_a_button_to_copy_it():
    html = copyable_id(uuid.UUID(RECORD_ID), "the record ID")
    assert f">{RECORD_ID}</code>" in html
    assert f'data-copy="{RECORD_ID}"' in html
    assert 'aria-label="Copy the record ID"' in html


@pytest.mark.parametrize(
    ("value", "is_long"),
    [
        (uuid.uuid4(), True),
        (RECORD_ID, True),
        ("ab" * 32, True),
        ("loan-1", False),
        (7, False),
        (f"x {RECORD_ID}", False),
    ],
)
def test_uuids_and_digests_are_long_ids(value, is_long):
    assert is_long_id(value) == is_long


def test_every_empty_list_says_what_to_do_next(signed_in):
    browser, empty = signed_in(Role.OWNER), set()
    for page in admin.site._registry.values():
        path = f"/admin/{page.opts.app_label}/{page.opts.model_name}/"
        html = browser.get(path).content.decode()
        if '<p class="empty">' in html:
            step = page.next_step
            assert f'<a href="{step.url}">{step.label}</a></p>' in html, path
            assert browser.get(step.url).status_code == 200
            empty.add(page.opts.model_name)
    assert empty >= {"decision", "reconsideration", "notice", "reviewrequest", "apikey", "invite", "connector", "hold"}


def test_an_empty_list_offers_no_step_that_the_operator_may_not_take(signed_in):
    html = signed_in(Role.AUDITOR).get("/admin/retention/hold/").content.decode()
    assert "No holds." in html
    assert ">Place a hold</a></p>" not in html

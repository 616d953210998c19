"""The message catalogue: current, complete for the public pages, and safe to print in them."""

import gettext
import re

import pytest
from babel.messages.catalog import Message
from django.contrib import admin
from django.utils import translation
from django.utils.functional import Promise

from connectors import kinds
from connectors.back_office import forms as connector_forms
from custody import clouds
from custody.back_office import cloud_pages
from notices.letters.labels import languages as letter_languages
from tests import messages, unmarked
from tests.databases import CHECKOUT

PLACEHOLDER = re.compile(r"%\(\w+\)\w|%[sd]|%%|\{\w*\}")
TRANSLATIONS = [language for language in messages.languages() if language != messages.SOURCE_LANGUAGE]
HELP = re.compile(r"(?:Choose|Enter|Leave|Map|Name|Say|Use)\b")
"""The imperative with which a help text begins."""
FRAGMENT = re.compile(r"^\s*[,;:.)]|[,;(]\s*$")
MARKUP = '<>"&'
TEMPLATES = CHECKOUT / "templates"
OTHERS = ("bench", "tests")
EXAMPLES = "components.html"  # the page of all components, whose words are examples

pytestmark = pytest.mark.once


def as_forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return a message's text, or its singular and plural."""
    return (text,) if isinstance(text, str) else text


def forms(message: Message) -> list[tuple[str, str]]:
    """Return each translation of a message beside the English one; all plural forms beside the English plural."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return [(message.id[-1], string) for string in message.string]


@pytest.mark.parametrize("language", messages.languages())
def test_the_catalogue_has_the_strings_of_the_sources(language):
    for path, content in messages.files(language).items():
        assert path.read_bytes() == content, f"{path} is out of date: run `make messages`"


def test_every_language_of_letters_has_a_catalogue():
    assert set(messages.languages()) == set(letter_languages())


def test_no_message_is_a_part_of_a_sentence_that_punctuation_joins_to_another():
    texts = [text for message in messages.extracted() if message.id for text in as_forms(message.id)]
    assert [text for text in texts if FRAGMENT.search(text)] == []


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_the_public_pages_are_translated_completely(language):
    stored = messages.translated(language)
    shown = [message for message in messages.extracted() if message.id and messages.is_public(message)]
    assert shown
    translated = [stored.get(message.id, message.context) for message in shown]
    assert [message.id for message in shown if message.id not in stored] == []
    assert [message.id for message in translated if not all(string for _, string in forms(message))] == []
    assert [message.id for message in translated if message.fuzzy] == []


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_translation_has_the_placeholders_and_the_markup_of_the_english_text(language):
    for message in messages.translated(language):
        for english, string in forms(message) if message.id and message.string else []:
            assert sorted(PLACEHOLDER.findall(string)) == sorted(PLACEHOLDER.findall(english)), string
            assert [string.count(character) for character in MARKUP] == [english.count(c) for c in MARKUP], string


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_django_reads_the_compiled_catalogue(language):
    compiled = gettext.translation("django", messages.LOCALE, [language])
    for message in messages.translated(language):
        if isinstance(message.id, str) and message.id and message.string and not message.context:
            assert compiled.gettext(message.id) == message.string
            with translation.override(f"{language}-XX"):
                assert translation.gettext(message.id) == message.string


def test_templates_mark_all_visible_text():
    paths = [path for path in (*TEMPLATES.rglob("*.html"), *TEMPLATES.rglob("*.txt")) if path.name != EXAMPLES]
    texts = {path: unmarked.in_template(path.read_text("utf-8"), is_html=path.suffix == ".html") for path in paths}
    assert {path: lines for path, lines in texts.items() if lines} == {}


def test_modules_of_pages_mark_their_words():
    modules = [path for name in ("admin", "back_office", "forms") for path in CHECKOUT.glob(f"*/{name}.py")]
    modules += [
        path for name in ("admin", "back_office", "public", "templatetags") for path in CHECKOUT.glob(f"*/{name}/*.py")
    ]
    modules += [CHECKOUT / "retention" / f"{name}.py" for name in ("outlooks", "selectors")]
    shown = [
        path for path in modules if path.relative_to(CHECKOUT).parts[0] not in OTHERS and path.stem != "components"
    ]
    assert len(shown) > 40
    texts = {path: unmarked.in_code(path.read_text("utf-8")) for path in shown}
    assert {path: labels for path, labels in texts.items() if labels} == {}


def test_lists_and_pages_of_rows_name_their_columns_in_the_catalogue():
    for model, pages in admin.site._registry.items():
        names = {name for name in (*pages.list_display, *(pages.fields or ())) if isinstance(name, str)}
        filters = {item[0] for item in pages.list_filter if isinstance(item, tuple)}
        fields = {field.name for field in model._meta.concrete_fields} & (names | filters)
        assert [name for name in fields if not isinstance(pages.labels.get(name), Promise)] == []
        has_list = any(str(url.name).endswith("_csv") for url in pages.get_urls())
        assert not has_list or (isinstance(pages.one, Promise) and isinstance(pages.many, Promise)), model


def test_each_setting_of_a_connector_and_of_a_cloud_has_its_label_and_help():
    of_kinds = {name: field for kind in kinds.kinds().values() for name, field in kind.Config.model_fields.items()}
    of_clouds = {name: field for cloud in clouds.PROVIDERS for name, field in clouds.of(cloud).model_fields.items()}
    assert set(connector_forms.LABELS) == set(of_kinds)
    assert set(cloud_pages.LABELS) == set(of_clouds)
    settings = [*of_kinds.items(), *of_clouds.items()]
    assert [name for name, field in settings if not HELP.match(field.description or "")] == []


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('forms.CharField(label="Code")', ["'Code'"]),
        ('forms.CharField(help_text=f"At most {limit} characters.")', ["f'At most {limit} characters.'"]),
        ('admin.display(description="kind", ordering="kind")', ["'kind'"]),
        ('forms.CharField(label=_("Code"), help_text=_("%(n)s digits.") % {"n": 6})', []),
        ('_LABELS = {"url": "The address"}', ["'The address'"]),
        ('return "Fix it first." if problems else ""', ["'Fix it first.'"]),
        ('nothing = "No keys yet."', ["'No keys yet.'"]),
        ('one, many = "key", _("keys")', ["'key'"]),
        ('labels = {"placed_at": "placed"}', ["'placed'"]),
        ('return f"{count} rows match."', ["f'{count} rows match.'"]),
        ('" to ".join(days)', ["' to '"]),
        ('bars = [Bar("held", held)]', ["'held'"]),
        ('"""A page."""\nlog.info("page shown")\nrow.state == "In force"\nrow["Set-Cookie"]', []),
        ('return format_html(gettext("<b>{}</b> is gone"), row.name)', []),
    ],
)
def test_unmarked_labels_are_recognized(source, texts):
    assert unmarked.in_code(source) == texts


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>Not done</p>", "Not done"),
        ("<p>{{ count }} rows</p>", "rows"),
        ("<p>{% translate 'Not' %} done</p>", "done"),
        ('<img alt="A chart">', "A chart"),
        ('<input placeholder="{{ kind }} name">', "name"),
        ('{{ name|default:"Not named" }}', 'name|default:"Not named"'),
        ("{{ count|pluralize }}", "count|pluralize"),
        ('{% submit_button "Save" reason %}', 'submit_button "Save" reason'),
        ('{% include "x.html" with label="Law or policy" %}', 'include "x.html" with label="Law or policy"'),
    ],
)
def test_unmarked_text_is_recognized(source, text):
    assert unmarked.in_template(source, is_html=True) == [text]


@pytest.mark.parametrize(
    "source",
    [
        "<p>{% translate 'Done' %} {{ row }}: 12</p>",
        "<p>{% blocktranslate %}Done by {{ person }}{% endblocktranslate %}</p>",
        "<li{% if row %} class='done'{% endif %}><code>PATCH /v1/row</code></li>",
        '{# A comment #}{% comment %}Words{% endcomment %}<a title="{% translate \'Open\' %}" href="/open"></a>',
        '{{ row|default:_("Not named") }}{% submit_button _("Save") reason "s" %}{% now "Y-m-d H:i" %}',
    ],
)
def test_marked_text_and_text_without_words_are_accepted(source):
    assert unmarked.in_template(source, is_html=True) == []

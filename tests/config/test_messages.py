"""The message catalogue: current, complete for the public pages, and safe to print in them."""

import gettext
import re

import pytest
from babel.messages.catalog import Message
from django.utils import translation

from notices.letters.labels import languages as letter_languages
from tests import messages

PLACEHOLDER = re.compile(r"%\(\w+\)\w|%[sd]|%%|\{\w*\}")
TRANSLATIONS = [language for language in messages.languages() if language != messages.SOURCE_LANGUAGE]
MARKUP = '<>"&'

pytestmark = pytest.mark.once


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

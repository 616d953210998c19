"""Words for the options of entries, as pages show them."""

from collections.abc import Iterator, Mapping

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from config.words import in_words
from decisions.record.meanings import Entry

Label = str | Promise
GROUPS: Mapping[Label, Mapping[str, Label]] = {
    _("The decision"): {
        "decision": _("Decision"),
        "reason": _("Reason"),
        "factor": _("Factor"),
        "condition": _("Condition"),
        "consequence": _("Consequence"),
        "missing": _("Missing document"),
        "object": _("What was asked for"),
        "object.amount": _("Amount asked for"),
    },
    _("The offer"): {
        "offer.amount": _("Amount offered"),
        "offer.rate": _("Rate offered"),
        "offer.term": _("Term offered"),
        "offer.until": _("Last day of the offer"),
        "offer.text": _("Words of the offer"),
    },
    _("Values to cite"): {
        "amount": _("Amount"),
        "rate": _("Rate"),
        "number": _("Number"),
        "date": _("Day"),
        "term": _("Term"),
        "flag": _("Yes or no"),
    },
    _("Information used"): {"input": _("Information that was used")},
    _("Times"): {
        "decided": _("Time of the decision"),
        "received": _("Day the request arrived"),
        "completed": _("Day the file was complete"),
        "effective": _("Day the decision takes effect"),
        "review.until": _("Last day to ask for a review"),
        "review.how": _("How to ask for a review"),
    },
    _("Person and system"): {
        "person": _("Name of the person"),
        "reference": _("Identifier"),
        "jurisdiction": _("Jurisdiction"),
        "language": _("Language of the person"),
        "system.name": _("Name of the system"),
        "system.version": _("Version of the system"),
        "system.provider": _("Provider of the system"),
        "system.purpose": _("Purpose of the system"),
        "automation": _("Whether it was automated"),
        "human": _("Part that people had"),
        "approval.person": _("Person who approved"),
        "approval.authority": _("Authority of that person"),
        "profile": _("Field of the published profile"),
    },
    _("Kept out of letters"): {"not_told": _("Not told")},
}
MEANINGS: Mapping[str, Label] = {meaning: label for group in GROUPS.values() for meaning, label in group.items()}
CLASSES: Mapping[str, Label] = {
    "internal": _("internal"),
    "secret": _("secret"),
    "protected": _("protected trait"),
    "other_person": _("another person's"),
}
SCALES: Mapping[str, Label] = {
    "units": _("whole units, such as dollars"),
    "minor": _("minor units, such as cents"),
    "fraction": _("a fraction: 0.135 is 13.5 %"),
    "percent": _("percent: 0.135 is 0.135 %"),
    "basis_points": _("basis points: 1350 is 13.5 %"),
}
EPOCHS: Mapping[str, Label] = {
    "seconds": _("seconds since 1970"),
    "milliseconds": _("milliseconds since 1970"),
}
NOTATIONS: Mapping[str, Label] = {
    "iso": _("year, month, day: 2026-04-03"),
    "month_first": _("month first: 04/03/2026"),
    "day_first": _("day first: 03/04/2026"),
    "compact": _("without separators: 20260403"),
}
UNITS: Mapping[str, Label] = {
    "days": _("days"),
    "weeks": _("weeks"),
    "months": _("months"),
    "years": _("years"),
}
SHOWS: Mapping[str, Label] = {"label": _("its name only"), "value": _("its name and value")}
KINDS: Mapping[str, Label] = {
    "text": _("text"),
    "number": _("number"),
    "flag": _("yes or no"),
    "null": _("always empty"),
}
NOT_SAID = _("Not said yet")


def description(entry: Entry) -> list[str]:
    """Return an entry in words: its meaning, and a line for each option."""
    return [str(MEANINGS[entry.means]), *map(str, _options(entry)), *_values(entry)]


def _options(entry: Entry) -> Iterator[Label]:
    if entry.class_:
        yield CLASSES[entry.class_]
    if entry.currency:
        yield format_lazy("{}: {}", _("currency"), entry.currency)
    if entry.scale:
        yield SCALES[entry.scale]
    if entry.epoch:
        yield EPOCHS[entry.epoch]
    if "notation" in entry.model_fields_set:
        yield NOTATIONS[entry.notation]
    if entry.unit:
        yield format_lazy("{}: {}", _("unit"), UNITS.get(entry.unit, entry.unit))
    if entry.value:
        yield format_lazy("{}: {}", _("value in"), entry.value)
    if entry.direction:
        yield format_lazy("{}: {}", _("direction in"), entry.direction)
    if entry.as_:
        yield format_lazy("{}: {}", _("field"), entry.as_)
    if entry.means == "input":
        yield format_lazy("{}: {}", _("a letter tells"), SHOWS[entry.show])
    if entry.unmapped == "as_written":
        yield _("codes without words are printed as they are written")
    for language, label in entry.label.items():
        yield f"{language}: {label}"


def _values(entry: Entry) -> Iterator[str]:
    for code, value in entry.values.items():
        meaning = [in_words(value.outcome)] if value.outcome else []
        words = [f"{language}: {text}" for language, text in value.words.items()]
        yield f"{code} = {', '.join([*meaning, *words])}"

"""The facts of a record whose meaning a mapping declares.

Packs, drafts and checks see the record in its published form, by the names of the SRF record, and nothing else of it.
Statements cite the fields of the signed record.
"""

from collections.abc import Iterator

from decisions.mapping import selectors
from decisions.mapping.models import MappingVersion
from decisions.mapping.projection import Projection, project
from decisions.record import profile
from decisions.record.profile import Decision, Input, Profile, Unknown
from notices.localization.sentences import clean, finish_sentence
from notices.record_paths import Fact, Facts, Scalar, Statement


class MappedFacts(Facts):
    """A record in its published form.

    Attributes:
        version: the version of the mapping that reads it.
        unexplained: the fields that the mapping does not explain, and codes without words in the language.
    """

    def __init__(
        self, signed: Facts, version: MappingVersion, language: str = "en", known: Profile | None = None
    ) -> None:
        """
        Args:
            signed: the record as it was signed.
            language: the language of the words for codes.
            known: the profile of the record, if it was read already.
        """
        self.version, self._signed = version, signed
        self._profile = known or profile.read(signed.document, selectors.table(version))
        self._decodes = {value.origin.path: value.origin.decode for value in self._profile.values}
        self._labels = {value.origin.path: value.origin.label for value in self._profile.values}
        self._withheld = {field.path for field in self._profile.withheld}
        self._projection: Projection = project(self._profile, language)
        self._published = {path: name for name, path in self._projection.sources.items()}
        super().__init__(b"", self._projection.document, sealed_digest=signed.sealed_digest)

    def in_language(self, language: str) -> "MappedFacts":
        """Return the same record with the words of another language."""
        if language == self._projection.language:
            return self
        return MappedFacts(self._signed, self.version, language, self._profile)

    def find(self, source: str) -> Fact:
        """Return the decoded field that a statement cites by its path in the signed record. Raises NoSuchField."""
        published = self._published.get(source)
        return super().find(published) if published else self._signed.find(source)

    def named(self, source: str) -> str:
        """Return the published path of a field of the signed record."""
        return self._published.get(source, source)

    def signed(self, path: str) -> str:
        """Return the path in the signed record of a published field."""
        return self._projection.sources.get(path, path)

    def stored(self, source: str) -> Scalar:
        return self._signed.stored(source)

    def decode(self, source: str) -> str:
        return self._decodes.get(source, "")

    def label(self, source: str) -> str:
        return self._labels.get(source, {}).get(self._projection.language, "")

    def is_withheld(self, source: str) -> bool:
        return source in self._withheld

    def declared(self, sections: dict[str, list[Statement]]) -> dict[str, list[Statement]]:
        """Return the drafted statements, which cite signed fields. The mapping's words for a decision and its kinds of
        information replace those of the draft."""
        cited = {
            name: [{**item, "source": self.signed(item["source"])} for item in items]
            for name, items in sections.items()
        }
        words = {path: finish_sentence(text) for path, text in self._decisions()}
        for item in cited["decision_summary"]:
            item["statement"] = words.get(item["source"], item["statement"])
        cited["inputs_used"] = self._inputs() or cited["inputs_used"]
        return cited

    def _decisions(self) -> Iterator[tuple[str, str]]:
        for value in self._profile.values:
            if isinstance(value, Decision) and (text := value.words.get(self._projection.language)):
                yield value.origin.path, text

    def _inputs(self) -> list[Statement]:
        """Return a statement for each kind of information, about its first field, or for each field told by value."""
        statements: dict[str, Statement] = {}
        for value in self._profile.values:
            label = value.origin.label.get(self._projection.language) if isinstance(value, Input) else None
            if isinstance(value, Input) and label:
                text = label if value.value is None else f"{label}: {clean(value.value)}"
                statements.setdefault(text, {"statement": finish_sentence(text), "source": value.origin.path})
        return list(statements.values())

    @property
    def unexplained(self) -> list[Unknown]:
        """The fields below `outcome` that no one has explained, and codes without words."""
        below = [scalar for scalar in self._profile.unmapped if scalar.path.startswith("outcome.")]
        unmapped = [Unknown(scalar.path, scalar.general, "a field that no one has explained yet") for scalar in below]
        return [*self._profile.unknown, *self._projection.gaps, *unmapped]

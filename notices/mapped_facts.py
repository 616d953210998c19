"""The facts of a record whose meaning a mapping declares.

Packs, drafts and checks see the record in its published form, by the names of the SRF record, and nothing else of it.
Statements cite the fields of the signed record.
"""

from decisions.mapping import builtin, selectors
from decisions.mapping.builtin import RecordReading
from decisions.mapping.models import MappingVersion
from decisions.mapping.projection import Projection, project
from decisions.record.profile import Unknown
from notices.record_paths import Fact, Facts, Scalar


class MappedFacts(Facts):
    """A record in its published form.

    Attributes:
        version: the version of the mapping that reads it.
        unexplained: the fields that the mapping does not explain, and codes without words in the language.
    """

    def __init__(
        self, signed: Facts, version: MappingVersion, language: str = "en", known: RecordReading | None = None
    ) -> None:
        """
        Args:
            signed: the record as it was signed.
            language: the language of the words for codes.
            known: the reading of the record, if it was read already.
        """
        self.version, self._signed = version, signed
        self.reading = known or builtin.read(signed.document, selectors.table(version))
        self._decodes = {value.origin.path: value.origin.decode for value in self.profile.values}
        self._labels = {value.origin.path: value.origin.label for value in self.profile.values}
        self._withheld = {field.path for field in self.profile.withheld}
        self._projection: Projection = project(self.profile, language)
        self._published = {path: name for name, path in self._projection.sources.items()}
        super().__init__(b"", self._projection.document, sealed_digest=signed.sealed_digest)

    def in_language(self, language: str) -> "MappedFacts":
        """Return the same record with the words of another language."""
        if language == self._projection.language:
            return self
        return MappedFacts(self._signed, self.version, language, self.reading)

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

    def signed_fact(self, path: str) -> Fact:
        return self._signed.find(path)

    @property
    def _unreadable(self) -> list[Unknown]:
        return [*self.profile.unknown, *self._projection.gaps]

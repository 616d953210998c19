"""The connector of the demo, which brings samples that no other demo step brings."""

import pytest

from connectors.demo import poll_export
from connectors.models import Connector
from decisions import samples
from decisions.demo import ingest_samples
from decisions.models import Decision

pytestmark = pytest.mark.django_db


@pytest.fixture
def imports(settings, tmp_path):
    settings.DATA_DIR, settings.IMPORTS_DIR = tmp_path, tmp_path / "imports"
    settings.CONNECTOR_DIRECTORIES = [str(settings.IMPORTS_DIR)]
    return settings.IMPORTS_DIR


def test_the_connector_of_the_demo_brings_the_decisions_that_the_samples_leave_out(organization, imports):
    ingest_samples(organization)
    poll_export(organization)
    everything = [*samples.mortgage_records(), *samples.synthetic_records()]
    assert Decision.objects.count() == len(everything)
    connector = Connector.objects.get()
    assert (connector.new, connector.repeated, connector.quarantined) == (samples.EXPORTED, 0, 0)
    assert connector.ledger.count() == 1
    assert {path.stat().st_mode & 0o077 for path in (imports, *imports.iterdir())} == {0}


def test_a_second_start_leaves_it_as_it_is(organization, imports):
    poll_export(organization)
    before = Connector.objects.values().get()
    poll_export(organization)
    assert Connector.objects.values().get() == before


def test_an_operator_who_opened_other_folders_gets_none(organization, imports, settings, tmp_path):
    settings.CONNECTOR_DIRECTORIES = [str(tmp_path / "exports")]
    poll_export(organization)
    assert not Connector.objects.exists()
    assert not imports.exists()

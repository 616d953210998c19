"""After an upgrade, four eyes know the writers of earlier notices as far as the rows name them."""

from importlib import import_module

import pytest
from django.apps import apps

from accounts import audit
from accounts.roles import Role
from notices import services
from notices.errors import OwnNotice
from notices.models import Contributor, Phrase
from tests.notices.conftest import (
    RECORD,
    acting,
    approve,
    done,
    drafted,
    edit,
    exempt,
    refused,
    step,
    stored,
    warnings_of,
)
from tests.notices.test_contributors import AUTHOR, blocking, key_of, phrase, put

pytestmark = pytest.mark.django_db

upgrade = import_module("notices.migrations.0005_known_writers")


def forget() -> None:
    """Reset the rows to before contributors and authors were stored."""
    Contributor.objects.all().delete()
    Phrase.objects.update(authors={})


def kept() -> set[tuple]:
    return set(Contributor.objects.values_list("notice", "part", "actor_kind", "actor_id", "mail"))


def test_the_upgrade_restores_writers_and_waivers(api, notice, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    key, editor = key_of(owner, api), signed_in(Role.EDITOR, "editor@bank.example")
    done(edit(key, notice, title="By the key"))
    done(edit(editor, notice, title="By the editor"))
    api.ingest({"decision_id": "loan-2", "outcome": {"action": "denied", "reasons": ["The income is too low."]}})
    other = drafted(key, "loan-2", pack="gdpr_22")
    done(exempt(editor, other, **blocking(other)))
    done(edit(key, other, title="The waiver came along"))
    done(exempt(key, other, **dict.fromkeys(blocking(other), "Another reason.")))
    done(approve(api, other, acknowledge=warnings_of(api, other)))
    done(step(owner, other, "versions"))
    before = kept()
    forget()
    upgrade.count_in(apps, None)
    assert kept() == before
    upgrade.count_in(apps, None)
    assert kept() == before, "a second run changes nothing"


def test_an_edit_from_before_keeps_its_writer_from_approving(api, notice, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    done(edit(key_of(owner, api), notice, title="Mine"))
    forget()
    upgrade.count_in(apps, None)
    assert "key that you made" in refused(step(owner, notice, "approve"))


def test_phrases_belong_to_the_only_member_who_changed_the_phrasebook(api, organization):
    author = acting(organization, Role.ADMIN, AUTHOR)
    put(organization, author.actor, phrase(label="Loan to value"))
    before = Phrase.objects.get().authors
    forget()
    upgrade.name_authors(apps, None)
    assert Phrase.objects.get().authors == before
    api.ingest(RECORD)
    with pytest.raises(OwnNotice, match="wrote a phrase"):
        services.approve(notice=stored(api, drafted(api)), caller=author)


@pytest.mark.parametrize("second", ["other@bank.example", ""])
def test_phrases_changed_by_several_members_have_no_known_author(organization, second):
    actors = [acting(organization, Role.ADMIN, AUTHOR).actor]
    actors.append(acting(organization, Role.ADMIN, second).actor if second else audit.COMMAND_LINE)
    for actor in actors:
        put(organization, actor, phrase(f"Words of {actor.id}: {{value}}."))
    forget()
    upgrade.name_authors(apps, None)
    assert Phrase.objects.get().authors == {}

from itertools import islice

from django.db import migrations

BATCH = 1000


def count_in(apps, schema_editor):
    """Whoever wrote a revision, or said in one that an element does not apply, as far as the revisions tell."""
    revisions = apps.get_model("notices", "NoticeRevision").objects.order_by("notice_id", "number")
    makers = dict(apps.get_model("accounts", "ApiKey").objects.values_list("key_id", "maker"))
    contributor = apps.get_model("notices", "Contributor")

    def row(notice, part, kind, actor, label):
        mail = makers.get(actor, "") if kind == "key" else label if kind == "member" else ""
        return contributor(notice_id=notice, part=part, actor_kind=kind, actor_id=actor, mail=mail[:254])

    authors = ("author_kind", "author_id", "author_label")
    words = revisions.order_by().values_list("notice_id", *authors).distinct()
    keep(contributor, (row(notice, "words", *author) for notice, *author in words.iterator(BATCH)))
    keep(contributor, (row(notice, "waiver", *author) for notice, *author in waivers(revisions, authors)))
    # What a key approved has the same writers in its new version; one after the other, for versions form chains.
    newer = apps.get_model("notices", "Notice").objects.filter(supersedes__approval__isnull=False)
    newer = newer.exclude(supersedes__approval__actor_kind="member").order_by("created_at")
    columns = ("part", "actor_kind", "actor_id", "mail")
    for notice, earlier in newer.values_list("pk", "supersedes").iterator(BATCH):
        rows = contributor.objects.filter(notice=earlier).values(*columns)
        keep(contributor, (contributor(notice_id=notice, **values) for values in list(rows)))


def waivers(revisions, authors):
    """The notice and the author of each revision that said of an element for the first time that it does not apply.
    A first revision has what was approved with the notice that it takes the place of."""
    before = (None, 0, {})
    rows = revisions.exclude(not_applicable={}).values_list("notice_id", "number", "not_applicable", *authors)
    for notice, number, exempt, *author in rows.iterator(BATCH):
        known = before[2] if before[:2] == (notice, number - 1) else {}
        if number > 1 and exempt.items() - known.items():
            yield notice, *author
        before = (notice, number, exempt)


def keep(contributor, rows):
    while batch := list(islice(rows, BATCH)):
        contributor.objects.bulk_create(batch, ignore_conflicts=True)


def name_authors(apps, schema_editor):
    """Phrases were kept without their authors. Where one member alone has ever changed the phrasebook, it was them."""
    events = apps.get_model("accounts", "AuditEvent").objects.filter(verb="phrasebook.changed").order_by()
    actors = {}
    for organization, *actor in events.values_list("organization", "actor_kind", "actor_id", "actor_label").distinct():
        actors.setdefault(organization, []).append(actor)
    phrases = apps.get_model("notices", "Phrase").objects
    for organization, [(kind, actor, label), *others] in actors.items():
        if kind != "member" or others:
            continue
        author = {"kind": kind, "id": actor, "mail": label}
        for phrase in phrases.filter(organization_id=organization):
            written = [part for part in ("sentence", "label", "withheld") if getattr(phrase, part)]
            phrases.filter(pk=phrase.pk).update(authors=dict.fromkeys(written, author))


class Migration(migrations.Migration):
    dependencies = [("notices", "0004_writers_and_senders"), ("accounts", "0004_makers_of_keys")]

    operations = [
        migrations.RunPython(count_in, migrations.RunPython.noop),
        migrations.RunPython(name_authors, migrations.RunPython.noop),
    ]

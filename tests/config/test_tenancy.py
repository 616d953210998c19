"""Tenancy: rows of an organization are queried through it, or the code gives a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import Model

from accounts.models import AuditEvent, Member, Organization
from config.tenancy import TenantQuerySet, organization_of

CHECKOUT = Path(__file__).resolve().parents[2]
APPS = [app for app in apps.get_app_configs() if Path(app.path).is_relative_to(CHECKOUT)]
MODELS = [model for app in APPS for model in app.get_models()]
MANAGERS = {"objects", "with_disposed", "_default_manager", "_base_manager"}
ALLOWED = {"for_organization", "unscoped", "create", "bulk_create"}
WITH_ORGANIZATION = {"get_or_create", "update_or_create"}
ORGANIZATION = {"organization", "organization_id"}
SHORTCUTS = {"get_object_or_404", "get_list_or_404"}


def is_tenant(model: type[Model]) -> bool:
    return isinstance(model._default_manager.all(), TenantQuerySet)


TENANTS = {model.__name__ for model in MODELS if is_tenant(model)}


def belongs(model: type[Model]) -> bool:
    """Whether a row has an organization, or a notice that has one."""
    keys = {field.name: field.related_model for field in model._meta.concrete_fields if field.is_relation}
    return Organization in keys.values() or "notice" in keys


def sources() -> Iterator[Path]:
    for app in APPS:
        yield from (file for file in Path(app.path).rglob("*.py") if "migrations" not in file.parts)


def breaches(source: str) -> list[str]:
    """Return the lines of a module that query tenants' rows in another way."""
    tree = ast.parse(source)
    names = TENANTS | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in TENANTS and alias.asname
    }
    inside = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    nodes = [node for node in ast.walk(tree) if _is_breach(node, names, inside)]
    return [f"{node.lineno}: {ast.unparse(node)}" for node in nodes]


def _is_breach(node: ast.AST, names: set[str], inside: dict[ast.AST, ast.AST]) -> bool:
    if isinstance(node, ast.Call) and _last(node.func) in SHORTCUTS:
        return bool(node.args) and _last(node.args[0]) in names
    if not (isinstance(node, ast.Attribute) and node.attr in MANAGERS and _last(node.value) in names):
        return False
    method = inside[node]
    call = inside[method]
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        return True
    if method.attr in WITH_ORGANIZATION:
        return not ORGANIZATION.intersection(str(keyword.arg) for keyword in call.keywords)
    return node.attr.startswith("_") or method.attr not in ALLOWED


def _last(node: ast.AST) -> str:
    """Return the last name, `Member` for both `Member` and `models.Member`."""
    return {ast.Name: lambda: node.id, ast.Attribute: lambda: node.attr}.get(type(node), lambda: "")()


def test_every_model_of_an_organization_has_the_tenants_manager():
    without = {model for model in MODELS if belongs(model) and not is_tenant(model)}
    assert {model._meta.label for model in without} == set()


def test_no_code_queries_rows_without_their_organization():
    checked = {str(file.relative_to(CHECKOUT)): breaches(file.read_text()) for file in sources()}
    assert len(checked) > 40
    assert {name: lines for name, lines in checked.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "Member.objects.filter(pk=1)",
        "Member.objects.get(pk=1)",
        "Member.objects.all()",
        "rows = Member.objects",
        "reader = Member.objects.filter",
        "models.Member.objects.select_for_update()",
        "Member._default_manager.filter(pk=1)",
        "Member._base_manager.for_organization(1)",
        "Member.objects.get_or_create(user=user)",
        "get_object_or_404(Member, pk=1)",
        "shortcuts.get_object_or_404(models.Member, pk=1)",
        "from accounts.models import Member as Person\nPerson.objects.first()",
    ],
)
def test_the_lint_refuses(line):
    assert len(breaches(line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Member.objects.for_organization(caller.organization_id).filter(pk=1)",
        "models.Member.objects.for_organization(1).get(pk=1)",
        "Member.objects.unscoped('for all of them').count()",
        "Member.objects.create(organization=organization)",
        "Member.objects.bulk_create(rows)",
        "Member.objects.get_or_create(organization=organization, user=user)",
        "Member.objects.update_or_create(organization_id=1, defaults={})",
        "user.memberships.filter(role=role)",
        "Organization.objects.get(pk=1)",
        "get_object_or_404(SignedInSession, pk=1)",
    ],
)
def test_the_lint_accepts(line):
    assert breaches(line) == []


@pytest.mark.django_db
def test_an_organization_s_query_returns_only_its_own_rows(organization, other_api):
    (own,) = Member.objects.for_organization(organization)
    assert own.organization == organization
    assert list(Member.objects.for_organization(organization.pk)) == [own]
    assert Member.objects.unscoped("both are counted").count() == 2
    assert organization_of(own) == organization.pk
    assert organization_of(organization) is None
    platform = AuditEvent.objects.create(verb="x", actor_kind="x", actor_id="x", actor_label="x")
    assert organization_of(platform) is None
    assert platform not in AuditEvent.objects.for_organization(organization)

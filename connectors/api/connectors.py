import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent_while
from accounts.roles import Permission
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from connectors import selectors, services, sources
from connectors.formats import values_at
from connectors.models import Connector
from connectors.schemas import (
    ConnectorDeleted,
    ConnectorDetail,
    ConnectorIn,
    ConnectorList,
    ConnectorPatch,
    ConnectorRunList,
    ConnectorTestOut,
    ListPage,
    MapPreviewIn,
    MapPreviewOut,
)


def _not_deleted(organization_id: uuid.UUID, made: Mapping[str, Any]) -> QuerySet[Connector]:
    return Connector.objects.for_organization(organization_id).filter(source_id=made["source_id"])


class Connectors(Resource):
    @operation(
        "create_connector",
        "Create a connector and poll it at once, unless it is disabled or has problems.",
        is_contract=True,
        permission=Permission.MANAGE_CONNECTORS,
        body=ConnectorIn,
        answers={201: ConnectorDetail},
        errors=[409],
    )
    @idempotent_while(_not_deleted)
    def create(self, request: Request) -> HttpResponse:
        body = self.body(ConnectorIn)
        connector = services.create_connector(
            caller=caller_of(request),
            kind=body.kind,
            name=body.name,
            config=body.config,
            secret_ref=body.secret_ref or "",
            schedule_seconds=body.schedule_seconds,
            enabled=body.enabled,
        )
        return answer(_detail(connector), status=201)

    @operation(
        "list_connectors",
        "List the organization's connectors, newest first.",
        permission=Permission.MANAGE_CONNECTORS,
        query=ListPage,
        answers={200: ConnectorList},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = Connector.objects.for_organization(caller_of(request).organization_id)
        return answer(paginate(rows, self.query(ListPage), moment="created_at", show=ConnectorList))

    @operation(
        "get_connector",
        "Show a connector: its settings and problems, last run, counts, cursor and lag.",
        permission=Permission.MANAGE_CONNECTORS,
        answers={200: ConnectorDetail},
        errors=[404],
    )
    def retrieve(self, request: Request, source_id: str) -> HttpResponse:
        return answer(_detail(_connector(request, source_id)))

    @operation(
        "update_connector",
        "Partially update a connector; null means unchanged.",
        is_contract=True,
        permission=Permission.MANAGE_CONNECTORS,
        body=ConnectorPatch,
        answers={200: ConnectorDetail},
        errors=[404],
    )
    def update(self, request: Request, source_id: str) -> HttpResponse:
        body, connector = self.body(ConnectorPatch), _connector(request, source_id)
        changes = services.Changes(**{name: getattr(body, name) for name in ConnectorPatch.model_fields})
        changed = services.change_connector(caller=caller_of(request), connector=connector, changes=changes)
        return answer(_detail(changed))

    @operation(
        "delete_connector",
        "Delete a connector. Its records stay in custody.",
        permission=Permission.MANAGE_CONNECTORS,
        answers={200: ConnectorDeleted},
        errors=[404],
    )
    def destroy(self, request: Request, source_id: str) -> HttpResponse:
        services.delete_connector(caller=caller_of(request), connector=_connector(request, source_id))
        return answer({"source_id": source_id, "deleted": True})

    @operation(
        "poll_connector",
        "Poll a connector now, and restart it if it has stopped.",
        permission=Permission.MANAGE_CONNECTORS,
        answers={200: ConnectorDetail},
        errors=[404, 409],
    )
    def poll(self, request: Request, source_id: str) -> HttpResponse:
        asked = services.request_poll(caller=caller_of(request), connector=_connector(request, source_id))
        return answer(_detail(asked))

    @operation(
        "list_connector_runs",
        "List the polls of a connector, newest first.",
        permission=Permission.MANAGE_CONNECTORS,
        query=ListPage,
        answers={200: ConnectorRunList},
        errors=[404],
    )
    def runs(self, request: Request, source_id: str) -> HttpResponse:
        rows = _connector(request, source_id).runs.all()
        return answer(paginate(rows, self.query(ListPage), moment="started_at", show=ConnectorRunList))


class ConnectorTests(Resource):
    @operation(
        "test_connector",
        "Check credentials and reachability without saving anything.",
        is_contract=True,
        permission=Permission.MANAGE_CONNECTORS,
        body=ConnectorIn,
        answers={200: ConnectorTestOut},
        errors=[429],
    )
    def test(self, request: Request) -> HttpResponse:
        body = self.body(ConnectorIn)
        tested = services.try_source(
            caller=caller_of(request), kind=body.kind, config=body.config, secret_ref=body.secret_ref or ""
        )
        return answer({"ok": tested.ok, "steps": [step._asdict() for step in tested.steps]})

    @operation(
        "preview_connector_map",
        "Show the record that a field map makes of one item.",
        permission=Permission.MANAGE_CONNECTORS,
        body=MapPreviewIn,
        answers={200: MapPreviewOut},
    )
    def preview(self, request: Request) -> HttpResponse:
        body = self.body(MapPreviewIn)
        return answer(sources.preview(values_at(self.raw_body, ["/item"])["/item"], body.map)._asdict())


def _detail(connector: Connector) -> ConnectorDetail:
    last_run = connector.runs.order_by("-pk").first()
    return ConnectorDetail.of(connector, last_run=last_run, in_quarantine=connector.quarantine.count())


def _connector(request: Request, source_id: str) -> Connector:
    return selectors.connector(caller_of(request).organization_id, source_id)

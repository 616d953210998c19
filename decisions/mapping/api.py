from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.roles import Permission
from config.http.cursors import Page, paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from decisions.mapping import drift, readings, selectors, services
from decisions.mapping.exchange import data_contract
from decisions.mapping.exchange.dictionary_table import Columns
from decisions.mapping.exchange.importing import proposals_of
from decisions.mapping.models import Mapping
from decisions.mapping.readings import Reading
from decisions.mapping.ready import shelf
from decisions.mapping.schemas import (
    ConfirmationIn,
    ContractOut,
    ImportIn,
    MappingDetail,
    MappingIn,
    MappingList,
    ProposalIn,
    ProposalList,
    ProposalOut,
    ReadingIn,
    ReadingOut,
    ReadyIn,
    ReadyList,
    ReadyOut,
    UnknownFieldList,
    UnknownFieldOut,
    VersionIn,
    VersionOut,
)
from decisions.mapping.suggest import propose

_MAPPING_ID = OpenApiParameter("mapping_id", {"type": "string"}, OpenApiParameter.PATH)
_READY = OpenApiParameter("ready", {"type": "string"}, OpenApiParameter.PATH)
_NUMBER = OpenApiParameter("number", {"type": "string"}, OpenApiParameter.PATH)


def _mapping_of(request: Request, mapping_id: int) -> Mapping:
    return selectors.mapping(caller_of(request).organization_id, mapping_id)


def _detail(mapping: Mapping) -> MappingDetail:
    return MappingDetail.of(mapping, versions=list(mapping.versions.order_by("-number")))


def _shown(reading: Reading) -> ReadingOut:
    version, profile = reading.version, reading.profile
    return ReadingOut.of(
        profile,
        mapping_id=version.mapping_id if version else None,
        version=version.number if version else None,
        unmapped=[scalar.path for scalar in profile.unmapped],
    )


class Mappings(Resource):
    @operation(
        "list_mappings",
        "List the organization's mappings, newest first.",
        permission=Permission.READ_DECISIONS,
        query=Page,
        answers={200: MappingList},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = Mapping.objects.for_organization(caller_of(request).organization_id)
        return answer(paginate(rows, self.query(Page), moment="created_at", show=MappingList))

    @operation(
        "create_mapping",
        "Create a mapping with its first version, which applies once it is confirmed.",
        permission=Permission.MANAGE_NOTICES,
        body=MappingIn,
        answers={201: MappingDetail},
        errors=[409],
    )
    def create(self, request: Request) -> HttpResponse:
        body = self.body(MappingIn)
        selects = body.model_dump(exclude={"name", "entries"})
        version = services.create(caller=caller_of(request), name=body.name, entries=body.entries, **selects)
        return answer(_detail(version.mapping), status=201)

    @operation(
        "list_ready_mappings",
        "List the ready mappings of systems in wide use.",
        permission=Permission.READ_DECISIONS,
        answers={200: ReadyList},
    )
    def list_ready(self, request: Request) -> HttpResponse:
        items = [ReadyOut.of(ready) for ready in shelf.all_mappings().values()]
        return answer(ReadyList(items=items))

    @operation(
        "create_ready_mapping",
        "Create a mapping from a ready one. It applies once it is confirmed.",
        permission=Permission.MANAGE_NOTICES,
        parameters=[_READY],
        body=ReadyIn,
        answers={201: MappingDetail},
        errors=[404, 409],
    )
    def create_ready(self, request: Request, ready: str) -> HttpResponse:
        shelved, body = shelf.mapping(ready), self.body(ReadyIn)
        entries = shelved.entries_below(shelved.below if body.below is None else body.below)
        selects = body.model_dump(exclude={"name", "below"})
        version = services.create(caller=caller_of(request), name=body.name, entries=entries, **selects)
        return answer(_detail(version.mapping), status=201)

    @operation(
        "get_mapping",
        "Get a mapping with all its versions, newest first.",
        permission=Permission.READ_DECISIONS,
        parameters=[_MAPPING_ID],
        answers={200: MappingDetail},
        errors=[404],
    )
    def retrieve(self, request: Request, mapping_id: int) -> HttpResponse:
        return answer(_detail(_mapping_of(request, mapping_id)))

    @operation(
        "propose_mapping_version",
        "Add a version to a mapping. It applies once it is confirmed.",
        permission=Permission.MANAGE_NOTICES,
        parameters=[_MAPPING_ID],
        body=VersionIn,
        answers={201: VersionOut},
        errors=[404],
    )
    def propose(self, request: Request, mapping_id: int) -> HttpResponse:
        mapping, body = _mapping_of(request, mapping_id), self.body(VersionIn)
        version = services.propose(caller=caller_of(request), mapping=mapping, entries=body.entries)
        return answer(VersionOut.of(version), status=201)

    @operation(
        "confirm_mapping",
        "Confirm the newest version of a mapping: drafts read the system's records by it from now on.",
        permission=Permission.MANAGE_NOTICES,
        parameters=[_MAPPING_ID],
        body=ConfirmationIn,
        answers={200: VersionOut},
        errors=[404, 409],
    )
    def confirm(self, request: Request, mapping_id: int) -> HttpResponse:
        mapping, body = _mapping_of(request, mapping_id), self.body(ConfirmationIn)
        version = services.confirm(caller=caller_of(request), mapping=mapping, number=body.version)
        return answer(VersionOut.of(version))

    @operation(
        "list_unknown_fields",
        "List the fields and codes in new records that a confirmed mapping does not explain.",
        permission=Permission.READ_DECISIONS,
        parameters=[_MAPPING_ID],
        answers={200: UnknownFieldList},
        errors=[404],
    )
    def unknown(self, request: Request, mapping_id: int) -> HttpResponse:
        fields = drift.of_mapping(_mapping_of(request, mapping_id))
        return answer(UnknownFieldList(items=[UnknownFieldOut.model_validate(field) for field in fields]))

    @operation(
        "propose_mapping",
        "Propose an entry for each field of sample records. Nothing is stored.",
        permission=Permission.READ_DECISIONS,
        body=ProposalIn,
        answers={200: ProposalList},
    )
    def suggest(self, request: Request) -> HttpResponse:
        body = self.body(ProposalIn)
        samples = [dict(record) for record in body.records]
        if body.system_name:
            samples = list(readings.samples(caller_of(request).organization_id, body.system_name))
        return answer(ProposalList(samples=len(samples), items=[ProposalOut.of(item) for item in propose(samples)]))

    @operation(
        "import_mapping",
        "Propose an entry for each field of a data contract, data dictionary or JSON Schema. Nothing is stored.",
        permission=Permission.READ_DECISIONS,
        body=ImportIn,
        answers={200: ProposalList},
    )
    def import_document(self, request: Request) -> HttpResponse:
        body = self.body(ImportIn)
        proposals = proposals_of(
            body.format,
            body.document,
            below=body.below,
            object_name=body.object,
            columns=Columns(**body.columns.model_dump()) if body.columns else None,
            language=body.language,
        )
        return answer(ProposalList(samples=0, items=[ProposalOut.of(item) for item in proposals]))

    @operation(
        "export_mapping",
        "Export a version of a mapping as a data contract (ODCS 3.2).",
        permission=Permission.READ_DECISIONS,
        parameters=[_MAPPING_ID, _NUMBER],
        answers={200: ContractOut},
        errors=[404],
    )
    def export(self, request: Request, mapping_id: int, number: int) -> HttpResponse:
        version = selectors.version(caller_of(request).organization_id, mapping_id, number)
        return answer(ContractOut(**data_contract.contract(version)))

    @operation(
        "read_by_mapping",
        "Show what a record says by its mapping, or by the entries given. Nothing is stored.",
        permission=Permission.READ_DECISIONS,
        body=ReadingIn,
        answers={200: ReadingOut},
    )
    def read(self, request: Request) -> HttpResponse:
        body = self.body(ReadingIn)
        reading = readings.read(caller_of(request).organization_id, dict(body.record), body.entries)
        return answer(_shown(reading))

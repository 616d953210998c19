import uuid

from connectors.errors import NoConnector
from connectors.models import Connector


def connector(organization_id: uuid.UUID, source_id: str) -> Connector:
    """A connector of an organization. Raises NoConnector."""
    try:
        wanted = uuid.UUID(source_id)
    except ValueError:
        raise NoConnector from None
    row = Connector.objects.for_organization(organization_id).filter(source_id=wanted).first()
    if row is None or str(row.source_id) != source_id:
        raise NoConnector
    return row

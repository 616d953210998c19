"""The connector that brought a record, on the record's page."""

from django.http import HttpRequest
from django.utils.translation import gettext

from accounts.back_office import object_url
from accounts.selectors import current_organization
from connectors import selectors
from connectors.errors import NoConnector
from decisions.back_office import Source


def record_source(request: HttpRequest, source_id: str) -> Source:
    """Return a connector's name, and its page if the operator may see it."""
    organization = current_organization(request)
    try:
        connector = selectors.connector(organization.pk, source_id) if organization else None
    except NoConnector:
        connector = None
    if connector is None:
        return Source(gettext("a deleted connector"))
    return Source(
        gettext("the connector %(name)s") % {"name": connector.name}, object_url(request, "connector", source_id)
    )

"""The site of the back office. Its menu is in `navigation`, so Django's lists of apps and models are not shown."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _


class BackOfficeSite(admin.AdminSite):
    site_header = site_title = "Decision-Record Service"
    index_title = _("Start")
    site_url = None  # there is no other site

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        return []

    def app_index(self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the start page."""
        return redirect("admin:index")

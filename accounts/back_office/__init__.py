"""Shared parts of the back office. Apps build their pages on them, and register needs and charts."""

from accounts.back_office.base_pages import (
    NextStep,
    ReadOnlyAdmin,
    label_of,
    moment,
    object_url,
    register_page,
    row_url,
)
from accounts.back_office.flows import Flow
from accounts.back_office.identifiers import copyable_id
from accounts.back_office.list_filters import AllCodes, AllValues, ExactValue, TimeRange, View
from accounts.back_office.list_pages import is_filtered
from accounts.back_office.lists import capped_count, capped_counts, starting_with
from accounts.back_office.navigation import register_counts
from accounts.back_office.permissions import caller, may, may_look, refusal
from accounts.back_office.start_page import (
    Bar,
    Chart,
    Need,
    register_charts,
    register_flows,
    register_needs,
)
from accounts.back_office.times import time_tag

__all__ = [
    "AllCodes",
    "AllValues",
    "Bar",
    "Chart",
    "ExactValue",
    "Flow",
    "Need",
    "NextStep",
    "ReadOnlyAdmin",
    "TimeRange",
    "View",
    "caller",
    "capped_count",
    "capped_counts",
    "copyable_id",
    "is_filtered",
    "label_of",
    "may",
    "may_look",
    "moment",
    "object_url",
    "refusal",
    "register_charts",
    "register_counts",
    "register_flows",
    "register_needs",
    "register_page",
    "row_url",
    "starting_with",
    "time_tag",
]

"""What the pages of the back office have in common. Apps build their pages on it, and place needs and charts."""

from accounts.back_office.lists import ExactValue, RecentValues, TimeRange, View, beginning, capped_count, capped_counts
from accounts.back_office.pages import ReadOnlyAdmin, label_of, moment, page_about, page_of, register_page
from accounts.back_office.permissions import caller, may, may_look, refusal
from accounts.back_office.start_page import Bar, Chart, Need, register_charts, register_needs

__all__ = [
    "Bar",
    "Chart",
    "ExactValue",
    "Need",
    "ReadOnlyAdmin",
    "RecentValues",
    "TimeRange",
    "View",
    "beginning",
    "caller",
    "capped_count",
    "capped_counts",
    "label_of",
    "may",
    "may_look",
    "moment",
    "page_about",
    "page_of",
    "refusal",
    "register_charts",
    "register_needs",
    "register_page",
]

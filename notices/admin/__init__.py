from notices.admin import grants, notices, phrases, review_requests, settings

__all__ = ["grants", "notices", "phrases", "review_requests", "settings"]

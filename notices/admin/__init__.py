from notices.admin import grants, notices, phrases, reviews, settings

__all__ = ["grants", "notices", "phrases", "reviews", "settings"]

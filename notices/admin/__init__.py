from notices.admin import grants, notices, packs, phrases, reviews

__all__ = ["grants", "notices", "packs", "phrases", "reviews"]

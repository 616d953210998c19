"""Settings. All that an administrator may change come from the environment, each as NAME or NAME_FILE."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import global_settings
from django.core.exceptions import ImproperlyConfigured
from kombu.entity import Queue

from config import logs, master_key
from config.environment import Environment
from config.secret_files import read

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()

DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var"))).absolute()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
DEBUG = env.bool("DEBUG", default=False)
# `serve` and `run` set it to their port, see `follow_port`.
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000").strip().rstrip("/")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# The first wraps every other secret in the database. A second unwraps those that a rotation has not reached yet.
_MASTER_KEY = env.str("MASTER_KEY", default="").strip()  # a file often ends with a line break
MASTER_KEY_IS_SET = bool(_MASTER_KEY)
MASTER_KEYS = master_key.load(_MASTER_KEY, env.str("MASTER_KEY_PREVIOUS", default="").strip(), DATA_DIR / "keys")
# Signs cookies and forms, nothing permanent.
_SECRET_KEY = env.str("SECRET_KEY", default="").strip()
SECRET_KEY_IS_SET = bool(_SECRET_KEY)
SECRET_KEY = _SECRET_KEY or master_key.secret_key(MASTER_KEYS[0])
_former_secret_key = DATA_DIR / "keys" / "secret_key"  # earlier versions created one: keeps their sessions valid
SECRET_KEY_FALLBACKS = [
    *env.list("SECRET_KEY_FALLBACKS", default=[]),
    *(master_key.secret_key(key) for key in MASTER_KEYS[1:]),
    *([read(_former_secret_key).decode()] if _former_secret_key.exists() else []),
]

# Storage of sealed records: "database" commits custody and index together, "filesystem" uses files below DATA_DIR.
CUSTODY_VAULT = env.str("CUSTODY_VAULT", default="database")

# An organization's connectors pause while so many of its records wait for a signature or their vault.
MAX_QUEUED_RECORDS = max(1, env.int("MAX_QUEUED_RECORDS", default=5000))

# Journal of disposals outside the database, so that a restored backup cannot revive records: a folder, or "storage" for
# each organization's own storage. If empty, a restore revives them.
RETENTION_JOURNAL = env.str("RETENTION_JOURNAL", default=f"folder:{DATA_DIR / 'journal'}")

INSTALLED_APPS = [
    "config",
    "accounts",
    "custody",
    "decisions",
    "retention",
    "connectors",
    "notices",
    "accounts.apps.BackOfficeConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "config.middleware.RequestLog",
    "config.middleware.ApiErrorsAreJSON",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.middleware.EndStaleSessions",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "config.middleware.DomainErrorPages",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.backends.MemberBackend"]
LOGIN_URL = "/sign-in/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = True
LOCALE_PATHS = [BASE_DIR / "locale"]
# The languages of letters and public pages: those with a catalogue.
LANGUAGES = [item for item in global_settings.LANGUAGES if (BASE_DIR / "locale" / item[0]).is_dir()]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n"],  # every template marks its text for the message catalogue
        },
    }
]


def _database() -> dict[str, Any]:
    database: dict[str, Any] = env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'db.sqlite3'}")
    if "ENGINE" not in database:  # or DATABASE_URL is empty: a missing secret must not start another database
        raise ImproperlyConfigured("DATABASE_URL names no database: write postgres://user:password@host/name")
    # A thread keeps its connection: threads are few and long-lived, and connecting costs more than most requests. (A
    # Celery worker still closes it after each task, and before it forks.)
    database["CONN_MAX_AGE"] = None
    if database["ENGINE"].endswith("sqlite3"):
        # FULL: an answered record survives a power failure, not only a crash. secure_delete: deleted data is
        # overwritten at once, not when its space is reused. recursive_triggers: the guards of signed rows also see the
        # rows that REPLACE deletes.
        pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON;"
        pragmas += "PRAGMA recursive_triggers=ON;"
        database["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas}
    else:
        # Django's default disables prepared statements, including those of config.db. Django's own cursors bind on the
        # client and prepare nothing at any threshold.
        database.setdefault("OPTIONS", {})["prepare_threshold"] = 1
    return database


DATABASES = {"default": _database()}

# Without Redis, messages are files in a folder. That is enough for one machine: a lost message only delays work.
REDIS_URL = env.str("REDIS_URL", default="")
BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
if REDIS_URL:
    # A wake-up is only a hint, so a request does not retry sending it during a broker outage.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"visibility_timeout": 600, "max_retries": 0}
else:
    CELERY_BROKER_TRANSPORT = "config.folder_queue:Transport"
    (BROKER_DIR / "control").mkdir(mode=0o700, parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR),
        "data_folder_out": str(BROKER_DIR),
        "control_folder": str(BROKER_DIR / "control"),
    }
# A worker without `-Q` takes from all queues. Polls take minutes, a backlog of records takes hours, and organizations'
# storage may answer slowly. So each of these has its own worker, apart from the one that sends sign-in codes. Letters
# have another: a disposal at 4 s a request held its worker for 50 s.
WORKER_QUEUES = {
    "worker": ("dispatch", "mail", "default"),
    "custody": ("custody",),
    "letters": ("letters",),
    "storage": ("storage",),
    "poller": ("poll",),
}
CELERY_TASK_QUEUES = [Queue(name) for queues in WORKER_QUEUES.values() for name in queues]
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = ["config.periodic.route"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 300
CELERY_TASK_SOFT_TIME_LIMIT = 270
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20  # `serve` sets less
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "celerybeat-schedule")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.ApiKeyAuthentication",
        "accounts.authentication.MemberSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.authentication.RolePermission"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.throttling.Limit"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [],  # config.http.body reads bodies
    "DEFAULT_SCHEMA_CLASS": "config.http.openapi.Schema",
    "EXCEPTION_HANDLER": "config.http.error_answers.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Decision-Record Service",
    "DESCRIPTION": "Keeps automated decisions about people, signed and provable. Generated from the code.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": False,
    "COMPONENT_SPLIT_PATCH": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "POSTPROCESSING_HOOKS": ["config.http.openapi.require_bodies", "config.http.groups.arrange"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": "DOCS_SETTINGS",  # of config/static/drs/docs.js
}

# Number of reverse proxies in front. Each appends its client's address to this header. The front drops header names
# with underscores: `config.wsgi` alone cannot distinguish X-Forwarded-For from a client's own X_Forwarded_For.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)
CLIENT_ADDRESS_HEADER = env.str("CLIENT_ADDRESS_HEADER", default="X-Forwarded-For")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None

# Requests a minute under /v1, for each key or person, and for each address without credentials. 0 means no limit.
REQUESTS_PER_MINUTE = env.int("REQUESTS_PER_MINUTE", default=0)
ANONYMOUS_REQUESTS_PER_MINUTE = env.int("ANONYMOUS_REQUESTS_PER_MINUTE", default=120)
# Counts requests only. Without Redis each process counts for itself, in at most 8 MB: a client's count is lost within
# its minute only if 13,000 other clients follow.
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
}

# Hosts and networks outside the public internet that connectors may reach, also without TLS.
ALLOWED_PRIVATE_HOSTS = env.hosts_and_networks("ALLOWED_PRIVATE_HOSTS")
# PEM file of the certificate authorities for connectors' hosts, in place of the public ones from `certifi`.
TRUSTED_CA_FILE = env.str("TRUSTED_CA_FILE", default="")
# Folders that connectors of the kind `directory` may read. Every organization can read all of them, except top-level
# folders named by another organization's id. The default folder is empty until an administrator puts files there.
IMPORTS_DIR = DATA_DIR / "imports"
CONNECTOR_DIRECTORIES = [
    folder for folder in env.str("CONNECTOR_DIRECTORIES", default=str(IMPORTS_DIR)).split(":") if folder
]
# Folder of `file:` references to secrets. A subfolder named by an organization's id is for that organization only.
SECRETS_DIR = Path(env.str("SECRETS_DIR", default=str(DATA_DIR / "secrets"))).absolute()

# One-time codes an hour for one network address, which a whole office may share: to one mail address, and to all.
CODES_PER_HOUR = env.int("CODES_PER_HOUR", default=5)
CODES_PER_HOUR_AND_CLIENT = env.int("CODES_PER_HOUR_AND_CLIENT", default=30)
SESSION_IDLE = timedelta(minutes=env.int("SESSION_IDLE_MINUTES", default=60))
SESSION_LONGEST = timedelta(hours=env.int("SESSION_HOURS", default=12))
SESSION_ENGINE = "accounts.session_store"
SESSION_COOKIE_AGE = int(SESSION_LONGEST.total_seconds())

# Without a mail server, mails are files that a person can open.
MAIL_DIR = DATA_DIR / "mail"
vars().update(env.email("EMAIL_URL", default=f"filemail:///{MAIL_DIR}"))
EMAIL_TIMEOUT = 10  # seconds, shorter than the lease of a mail, or a second worker would send it too
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Decision-Record Service <no-reply@localhost>")

_SECURE = BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _SECURE
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [BASE_URL]
SECURE_HSTS_SECONDS = 31_536_000 if _SECURE else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
STATIC_ROOT = env.str("STATIC_ROOT", default="") or None
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o755  # of collectstatic's files, which another user's web server may serve
WHITENOISE_USE_FINDERS = STATIC_ROOT is None  # a checkout serves its sources, an image collectstatic's files

# Limits HTML forms only: uploads are streams with their own limits (config.http.body).
DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20
# A file in a form is held in memory, with the same limit. A larger one is not read at all.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # a notice of 2,000 sentences can still be edited

LOG_FORMAT = env.one_of("LOG_FORMAT", "json", "console", default="console" if DEBUG else "json")
LOG_LEVEL = env.one_of("LOG_LEVEL", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", default="INFO")
LOGGING_CONFIG = None
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.exception_reports.PlacesAlone"
logs.configure(level=LOG_LEVEL, as_json=LOG_FORMAT == "json")

"""Settings. Everything an administrator may change comes from the environment, each name also as NAME_FILE."""

from datetime import timedelta
from pathlib import Path
from typing import Any

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
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000").strip().rstrip("/")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# The first wraps every other secret in the database; a second opens what a rotation has not reached yet.
_MASTER_KEY = env.str("MASTER_KEY", default="").strip()  # a file often ends with a line break
MASTER_KEY_IS_SET = bool(_MASTER_KEY)
MASTER_KEYS = master_key.load(_MASTER_KEY, env.str("MASTER_KEY_PREVIOUS", default="").strip(), DATA_DIR / "keys")
# Signs cookies and forms, nothing that lasts.
_SECRET_KEY = env.str("SECRET_KEY", default="").strip()
SECRET_KEY_IS_SET = bool(_SECRET_KEY)
SECRET_KEY = _SECRET_KEY or master_key.secret_key(MASTER_KEYS[0])
_former = DATA_DIR / "keys" / "secret_key"  # of versions that made one: sessions of then go on
SECRET_KEY_FALLBACKS = [
    *env.list("SECRET_KEY_FALLBACKS", default=[]),
    *(master_key.secret_key(key) for key in MASTER_KEYS[1:]),
    *([read(_former).decode()] if _former.exists() else []),
]

# Where sealed records are kept: "database" commits custody and index together, "filesystem" puts them below DATA_DIR.
CUSTODY_VAULT = env.str("CUSTODY_VAULT", default="database")

# Connectors of an organization pause while so many of its records wait for a signature or their vault.
MAX_QUEUED_RECORDS = max(1, env.int("MAX_QUEUED_RECORDS", default=5000))

# Where disposals are written down outside of the database, so that a restored backup revives none: a folder, or
# "storage" for each organization's own. Nothing: a restore revives them.
RETENTION_JOURNAL = env.str("RETENTION_JOURNAL", default=f"folder:{DATA_DIR / 'journal'}")

INSTALLED_APPS = [
    "config",
    "accounts",
    "custody",
    "decisions",
    "retention",
    "connectors",
    "notices",
    "django.contrib.admin",
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
            ]
        },
    }
]


def _database() -> dict[str, Any]:
    database: dict[str, Any] = env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'db.sqlite3'}")
    if "ENGINE" not in database:  # also where it is empty: a secret that is missing must not start another database
        raise ImproperlyConfigured("DATABASE_URL names no database: write postgres://user:password@host/name")
    # A thread keeps its connection: threads are few and long-lived, and to open one costs more than most requests. (A
    # Celery worker closes it after each task all the same, and before it forks.)
    database["CONN_MAX_AGE"] = None
    if database["ENGINE"].endswith("sqlite3"):
        # FULL: an answered record survives a power cut, not only a crash of the process. And what is deleted is
        # overwritten, else the file would hold it until something else takes its place. REPLACE deletes rows, and only
        # with recursive triggers do the guards of signed rows see it.
        pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON;"
        pragmas += "PRAGMA recursive_triggers=ON;"
        database["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": pragmas}
    else:
        # Django switches preparing off, and then psycopg ignores what config.db asks for. Django's own cursors bind on
        # the client and are not prepared at any threshold.
        database.setdefault("OPTIONS", {})["prepare_threshold"] = 1
    return database


DATABASES = {"default": _database()}

# Without Redis, messages lie in a folder: enough for one machine, and nothing depends on them being delivered.
REDIS_URL = env.str("REDIS_URL", default="")
BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
if REDIS_URL:
    # A wake-up is a hint: a request waits for no second attempt to send it while the broker is down.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"visibility_timeout": 600, "max_retries": 0}
else:
    (BROKER_DIR / "control").mkdir(mode=0o700, parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR),
        "data_folder_out": str(BROKER_DIR),
        "control_folder": str(BROKER_DIR / "control"),
    }
# A worker without `-Q` takes from all of them. Polls take minutes and a backlog of records hours, so that each has
# workers apart from those that send sign-in codes.
WORKER_QUEUES = {"worker": ("dispatch", "mail", "default"), "custody": ("custody",), "poller": ("poll",)}
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
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
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
    "DEFAULT_PARSER_CLASSES": [],  # config.http.body is the one reader
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
    "POSTPROCESSING_HOOKS": ["config.http.openapi.require_bodies"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"persistAuthorization": False, "tryItOutEnabled": True},
}

# Reverse proxies in front, each of which appends the address it was called from to this header. The front drops names
# with underscores; `config.wsgi` without it cannot tell X-Forwarded-For from a client's own X_Forwarded_For.
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)
CLIENT_ADDRESS_HEADER = env.str("CLIENT_ADDRESS_HEADER", default="X-Forwarded-For")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None

# Requests a minute under /v1, for each key or person, and for each address without credentials; 0 is no limit.
REQUESTS_PER_MINUTE = env.int("REQUESTS_PER_MINUTE", default=0)
ANONYMOUS_REQUESTS_PER_MINUTE = env.int("ANONYMOUS_REQUESTS_PER_MINUTE", default=120)
# It counts requests and nothing else. Without Redis each process counts for itself, in 8 MB at most: who is counted for
# a minute is forgotten only when 13,000 others come after.
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
}

# Hosts and networks that connectors may reach although they are not on the public internet, and without TLS.
ALLOWED_PRIVATE_HOSTS = env.hosts_and_networks("ALLOWED_PRIVATE_HOSTS")
# Authorities that vouch for the hosts of connectors, in place of the public ones that come with `certifi`: a PEM file.
TRUSTED_CA_FILE = env.str("TRUSTED_CA_FILE", default="")
# Folders below which connectors of the kind `directory` may read. Every organization here can read all of them, but for
# folders at the top of any that have another organization's id for their name. The default one holds only what somebody
# puts there.
IMPORTS_DIR = DATA_DIR / "imports"
CONNECTOR_DIRECTORIES = [
    folder for folder in env.str("CONNECTOR_DIRECTORIES", default=str(IMPORTS_DIR)).split(":") if folder
]
# Where `file:` references to secrets are looked up. A folder there that an organization's id names is for it alone.
SECRETS_DIR = Path(env.str("SECRETS_DIR", default=str(DATA_DIR / "secrets"))).absolute()

# One-time codes an hour for one network address, behind which a whole office may sit: to one mail address, and to all.
CODES_PER_HOUR = env.int("CODES_PER_HOUR", default=5)
CODES_PER_HOUR_AND_CLIENT = env.int("CODES_PER_HOUR_AND_CLIENT", default=30)
SESSION_IDLE = timedelta(minutes=env.int("SESSION_IDLE_MINUTES", default=60))
SESSION_LONGEST = timedelta(hours=env.int("SESSION_HOURS", default=12))
SESSION_ENGINE = "accounts.session_store"
SESSION_COOKIE_AGE = int(SESSION_LONGEST.total_seconds())

# Without a mail server, mails are files that a person can open.
MAIL_DIR = DATA_DIR / "mail"
vars().update(env.email("EMAIL_URL", default=f"filemail:///{MAIL_DIR}"))
EMAIL_TIMEOUT = 10  # seconds; shorter than the lease of a mail, or a second worker would send it too
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
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o755  # of what collectstatic makes, which a web server of another user may serve
WHITENOISE_USE_FINDERS = STATIC_ROOT is None  # a checkout serves its sources, an image what collectstatic gathered

# Bounds HTML forms alone: uploads are streams with their own limits (config.http.body).
DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20
# A file in a form is held in memory and is as small; a larger one is not read at all.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # a notice of 2,000 sentences can still be edited

LOG_FORMAT = env.one_of("LOG_FORMAT", "json", "console", default="console" if DEBUG else "json")
LOG_LEVEL = env.one_of("LOG_LEVEL", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", default="INFO")
LOGGING_CONFIG = None
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.exception_reports.PlacesAlone"
logs.configure(level=LOG_LEVEL, as_json=LOG_FORMAT == "json")

"""All settings, from the environment; what is missing or unsafe is named at start (core/checks.py)."""

import os
from pathlib import Path
from typing import Any

from django.utils.csp import CSP

from core.embedded import address
from core.environment import database_read, flag, mailer_read, number, numbers, words
from core.lost_hosts import redis_options

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(os.environ.get("HANDRAIL_VAR", BASE_DIR / "var"))

DEBUG = flag("DEBUG")
SECRET_KEY_IS_GIVEN = bool(os.environ.get("SECRET_KEY"))
SECRET_KEY = os.environ.get("SECRET_KEY") or address.secret_key(VAR_DIR)
ALLOWED_HOSTS = words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = words("CSRF_TRUSTED_ORIGINS")
PUBLIC_URL = os.environ.get("PUBLIC_URL", "http://localhost:8000")
USES_TLS = PUBLIC_URL.startswith("https://")

INSTALLED_APPS = [
    "core.console_config.ConsoleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",  # the pages of passkeys say when one was used
    "servestatic",
    "django.contrib.staticfiles",
    "channels",
    "ninja",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "core",
    "tasks_app",
    "approvals_app",
    "approvals_app.notify",
    "chaos_app",
]
MIDDLEWARE = [
    "core.metrics_middleware.answers_counted",
    "core.tracing_middleware.requests_traced",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "core.headers_middleware.HeadersMiddleware",
    "core.problem_middleware.ProblemMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "core.urls"
ASGI_APPLICATION = "core.asgi.application"
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
                "core.pages.frame",
            ],
        },
    },
]

# --- Postgres: yours by DATABASE_URL, otherwise the embedded one under var/ ---
DATABASE_URL = os.environ.get("DATABASE_URL") or address.database_url(VAR_DIR)
DATABASES: dict[str, dict[str, Any]] = {"default": database_read("DATABASE_URL", DATABASE_URL)}
# The role that owns the tables and migrates them, if another: then the application's own cannot change the record.
DATABASE_OWNER_URL = os.environ.get("DATABASE_OWNER_URL", "")
DATABASE_OWNER = database_read("DATABASE_OWNER_URL", DATABASE_OWNER_URL) if DATABASE_OWNER_URL else None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Broker and live layer: yours by REDIS_URL, otherwise the embedded Valkey under var/ ---
REDIS_URL = os.environ.get("REDIS_URL") or address.redis_url(VAR_DIR)
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or address.celery_broker_url(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = redis_options(CELERY_BROKER_URL)
# Messages are hints and results are in the record. A worker holds no message that it does not run (late ack, one at a
# time), is not disturbed by a broker that goes away, and looks for it for ever.
CELERY_WORKER_CONSUMER = "tasks_app.keeper.bootstep:Consumer"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
# On a busy machine a new pool process takes long to load; left alone, Celery ends it after 4 s, again and again.
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60.0
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_DB_REUSE_MAX = 1_000_000  # slices between two database connections of a worker's process
CHANNEL_LAYERS = {
    "default": {
        # Hints may be lost, so nothing keeps them: one command sends one, a queue for each listener takes a dozen.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{"address": address.channels_url(REDIS_URL), "max_connections": 2000, **redis_options(REDIS_URL)}]
        },
    }
}

# --- Mail: notifications go by it, if there is one ---
EMAIL_URL = os.environ.get("EMAIL_URL", "")
MAILERS = {"default": mailer_read("EMAIL_URL")}
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM", "Handrail <handrail@localhost>")

# --- Sign-in ---
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
# A second factor, asked for where a rule of policy wants it (core/step_up.py): one-time codes and passkeys.
ACCOUNT_ADAPTER = "core.second_factor.Accounts"
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300  # seconds: how old a sign-in may be when a factor is added or taken away
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_EMAIL_VERIFICATION = "none"  # administrators make accounts
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if USES_TLS else "http"
# Wrong passwords: from one address, and for one name. Counted in the database, which is there whenever anybody can
# sign in at all, by all web processes together; used one-time codes are remembered there too.
ACCOUNT_RATE_LIMITS = {"login_failed": "20/m/ip,5/5m/key"}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "handrail_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Handrail"
MFA_TOTP_TOLERANCE = 1  # a code typed as its half minute ends is still taken (RFC 6238, 5.2)
MFA_ADAPTER = "core.sealed_factors.Factors"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not USES_TLS  # passkeys on http://localhost
# An OpenID Connect provider beside passwords (core/single_sign_on.py).
HANDRAIL_OIDC_ISSUER = os.environ.get("HANDRAIL_OIDC_ISSUER", "")
HANDRAIL_OIDC_NAME = os.environ.get("HANDRAIL_OIDC_NAME", "single sign-on")
HANDRAIL_OIDC_CLIENT_ID = os.environ.get("HANDRAIL_OIDC_CLIENT_ID", "")
HANDRAIL_OIDC_CLIENT_SECRET = os.environ.get("HANDRAIL_OIDC_CLIENT_SECRET", "")
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "EMAIL_AUTHENTICATION": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": HANDRAIL_OIDC_NAME,
                "client_id": HANDRAIL_OIDC_CLIENT_ID,
                "secret": HANDRAIL_OIDC_CLIENT_SECRET,
                "settings": {"server_url": HANDRAIL_OIDC_ISSUER},
            }
        ]
        if HANDRAIL_OIDC_ISSUER
        else [],
    }
}
SOCIALACCOUNT_ADAPTER = "core.single_sign_on.Providers"
SOCIALACCOUNT_OPENID_CONNECT_URL_PREFIX = ""
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_LOGIN_ON_GET = True  # a link: a form that leads to another origin would need a hole in form-action
CSRF_FAILURE_VIEW = "core.error_pages.csrf_failed"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = USES_TLS
SECURE_SSL_REDIRECT = USES_TLS and flag("SECURE_SSL_REDIRECT", "1")
BEHIND_PROXY = flag("BEHIND_PROXY")
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0  # whose X-Forwarded-For names the address of a person
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# Asked on this machine, by what watches it, without TLS.
SECURE_REDIRECT_EXEMPT = [r"^metrics$", r"^api/v1/(health|ready)$"]
SECURE_HSTS_SECONDS = int(number("HANDRAIL_HSTS_SECONDS", "31536000")) if USES_TLS else 0
# HSTS for sibling hosts, and the browsers' preload list, are for the owner of the domain to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}

# --- Language, time, files ---
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
SERVESTATIC_USE_FINDERS = True

# --- Handrail itself ---
# The name of this deployment, shown on every page so that nobody decides in the wrong one.
HANDRAIL_ENVIRONMENT = os.environ.get("HANDRAIL_ENVIRONMENT", "local")
# Whether /style/ shows every component of the pages from sample data.
HANDRAIL_STYLE_PAGE = flag("HANDRAIL_STYLE_PAGE", "1" if DEBUG else "0")
# User code: module paths that declare agents and tools, besides the entry-point group "handrail.modules".
HANDRAIL_MODULES = words("HANDRAIL_MODULES")
HANDRAIL_DEMO = flag("HANDRAIL_DEMO")  # set by "manage.py demo" for the processes that it starts
if HANDRAIL_DEMO:
    HANDRAIL_MODULES.append("chaos_app.incidents")
# A lease lasts this long and is renewed each second by the keeper (seconds).
LEASE_SECONDS = number("HANDRAIL_LEASE_SECONDS", "4")
# How long the loss of a child waits for the words on how it ended, which only its parent knows.
EXIT_STATUS_SECONDS = number("HANDRAIL_EXIT_STATUS_SECONDS", "0.2")
# What else every sweeper looks for: dotted paths of functions without arguments (approval deadlines, schedules).
HANDRAIL_FINDERS = [
    "tasks_app.sweeper_row.sweeper_seen",
    "tasks_app.services.cancel.children_cancel",
    "approvals_app.services.expire.approvals_expire",
    "approvals_app.services.expire.approvals_void_changed",
    "approvals_app.services.caps.capped_wake",
    "approvals_app.notify.services.duty.notify_duty",
    "approvals_app.notify.services.forget.deliveries_forget",
    "chaos_app.services.collect.drills_collect",
    "chaos_app.services.guided.guided_follow",
    "chaos_app.services.slots.slots_fire",
]
# Whether every line of the log is one JSON object.
HANDRAIL_LOGS_JSON = os.environ.get("HANDRAIL_LOGS", "") == "json"
# What /metrics reads of the whole installation, and who may read it from another machine.
HANDRAIL_FIGURES = ["tasks_app.selectors.gauges.gauges", "approvals_app.selectors.gauges.gauges"]
HANDRAIL_METRICS_TOKEN = os.environ.get("HANDRAIL_METRICS_TOKEN", "")
# What raises an alert (approvals_app.notify.watch.Watch): each application declares its own, the root names them.
HANDRAIL_ALERTS = [
    "approvals_app.notify.rules.OUTCOME_UNKNOWN",
    "approvals_app.notify.rules.STOPPED",
    "approvals_app.notify.rules.CHECK_FAILED",
    "approvals_app.notify.rules.NO_WORKER",
    "approvals_app.notify.rules.NO_SWEEPER",
    "approvals_app.notify.rules.UNDELIVERED",
    "chaos_app.services.violations.DRILL_VIOLATION",
]
# Seconds from each failed try of a message to the next one; after the last it is given up, and listed.
HANDRAIL_NOTIFY_RETRY = numbers("HANDRAIL_NOTIFY_RETRY", "5,60,300,1800,7200,18000,36000,86400")
# Whether webhooks and chat may lead into private networks.
HANDRAIL_NOTIFY_PRIVATE = flag("HANDRAIL_NOTIFY_PRIVATE")
# How often a web process looks whether a sweeper lives, to watch and send in its stead (seconds; 0: never).
HANDRAIL_STAND_IN_SECONDS = number("HANDRAIL_STAND_IN_SECONDS", "5")
# Called regularly while all is well, so that silence is noticed outside.
HANDRAIL_HEARTBEAT_URL = os.environ.get("HANDRAIL_HEARTBEAT_URL", "")
HANDRAIL_HEARTBEAT_SECONDS = number("HANDRAIL_HEARTBEAT_SECONDS", "60")
# How many requests of one task, and of one agent, may wait for people; who is over it waits.
HANDRAIL_APPROVALS_PER_TASK = int(number("HANDRAIL_APPROVALS_PER_TASK", "20"))
HANDRAIL_APPROVALS_PER_AGENT = int(number("HANDRAIL_APPROVALS_PER_AGENT", "200"))
# Where no drill starts, whoever asks; how many cases and minutes one may have; how many of those that are launched from
# pages, by the API and by schedules run at once (``drill run`` waits for none: a shell starts processes anyway).
HANDRAIL_DRILLS_REFUSED_IN = words("HANDRAIL_DRILLS_REFUSED_IN", "production,prod,live")
HANDRAIL_DRILL_CASES = int(number("HANDRAIL_DRILL_CASES", "5000"))
HANDRAIL_DRILL_MINUTES = number("HANDRAIL_DRILL_MINUTES", "60")
HANDRAIL_DRILLS_AT_ONCE = int(number("HANDRAIL_DRILLS_AT_ONCE", "1"))
# The Gate that calls pass (tasks_app.gate.Gate); the composition root names the implementation.
HANDRAIL_GATE = "approvals_app.gate.ApprovalsGate"
# What seals credentials: keys, the newest first (`manage.py credential key` makes one), or a file of them, one a line;
# where neither is given, a file under var/ that is made once.
HANDRAIL_CREDENTIAL_KEYS = words("HANDRAIL_CREDENTIAL_KEYS")
HANDRAIL_CREDENTIAL_KEYS_FILE = os.environ.get("HANDRAIL_CREDENTIAL_KEYS_FILE", "")
# How many sandboxes of each kind every worker process keeps started, each for one call (0: none).
HANDRAIL_SANDBOX_STOCK = int(number("HANDRAIL_SANDBOX_STOCK", "1"))
# The code that carries this deployment: a git SHA or an image, kept with each task.
CODE_DIGEST = os.environ.get("HANDRAIL_CODE_DIGEST", "")

# One image for the whole service: web, worker, beat and migrate run it with different commands (see compose.yaml).
FROM python:3.11-slim-bookworm AS build

# The second stage copies this environment, without pip's caches and build tools.
RUN python -m venv /venv
WORKDIR /app
# Before the sources, so that changing them does not reinstall the packages.
COPY requirements.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement requirements.lock
COPY manage.py .
COPY config config
COPY accounts accounts
COPY custody custody
COPY decisions decisions
COPY notices notices
COPY connectors connectors
COPY retention retention
COPY templates templates
COPY locale locale
# The settings create a master key here. It wraps nothing and is discarded.
RUN DATA_DIR=/build STATIC_ROOT=/app/static /venv/bin/python manage.py collectstatic --no-input
# The running service is another user that cannot write here, so compile the modules now.
RUN /venv/bin/python -m compileall -q /app && chmod -R a+rX /app


FROM python:3.11-slim-bookworm

# PDF letters: WeasyPrint needs Pango, and crashes its process without any font. Names may be Chinese, Japanese or Korean.
# Texts may have emoji, which Symbola draws as outlines that archives can keep.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 \
        fonts-dejavu-core fonts-noto-cjk fonts-symbola \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /venv /venv
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    STATIC_ROOT=/app/static \
    DATA_DIR=/data \
    REMAP_SIGTERM=SIGQUIT
# SIGTERM makes a Celery worker interrupt its task after 20 s. It would wait for its end otherwise.
# The service writes only below /data: keys, and records with the filesystem vault. The user is a number, because
# Kubernetes cannot verify that a named user is not root.
RUN install --directory --owner=10001 --group=10001 --mode=0700 /data
USER 10001:10001
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=15s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]

# The same options as in `manage.py serve`: dead and silent workers are replaced, and a worker accepts many connections,
# which are cheap. granian's own log lines are not JSON, so it logs errors only. Without the kill timeout, a worker that is
# stopped while it starts would wait forever.
CMD ["python", "-m", "config.web", "--interface", "asgi", "config.asgi:application", "--log-level", "error", "--respawn-failed-workers", \
     "--http", "1", "--no-ws", "--loop", "uvloop", "--backlog", "4096", "--backpressure", "8192", \
     "--http1-header-read-timeout", "20000", "--workers-kill-timeout", "8", \
     "--workers", "4", "--host", "0.0.0.0", "--port", "8000"]

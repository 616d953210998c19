# The service as one image: web, worker, beat and migrate run from it with different commands (see compose.yaml).
FROM python:3.11-slim-bookworm AS build

# An environment of its own is what the second stage can copy whole, without pip's caches and build tools.
RUN python -m venv /venv
WORKDIR /app
# Before the sources, so that a change of theirs does not install everything anew.
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
# The settings make themselves a master key; this one wraps nothing and is not kept.
RUN DATA_DIR=/build STATIC_ROOT=/app/static /venv/bin/python manage.py collectstatic --no-input
# The running service cannot write here, so what Python would write at first import is written now. It is another user.
RUN /venv/bin/python -m compileall -q /app && chmod -R a+rX /app


FROM python:3.11-slim-bookworm

# Letters as PDF: WeasyPrint sets text with Pango. Without any font it would take its process down; names may be Chinese,
# Japanese or Korean, and texts have emoji, which Symbola draws as outlines that archives keep.
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
    DATA_DIR=/data
# Everything the service writes is below /data: keys, and with the filesystem vault the records. A number, because
# Kubernetes can tell of no name that it is not root.
RUN install --directory --owner=10001 --group=10001 --mode=0700 /data
USER 10001:10001
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=15s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]

# As `manage.py serve` starts it: a worker that dies or is silent is replaced, and takes many connections, for one costs next to
# nothing. granian's own lines are no JSON, so it speaks of errors alone; a worker that was told to end while it was still
# starting would wait for ever without the timeout.
CMD ["python", "-m", "config.web", "--interface", "asgi", "config.asgi:application", "--log-level", "error", "--respawn-failed-workers", \
     "--http", "1", "--no-ws", "--loop", "uvloop", "--backlog", "4096", "--backpressure", "8192", \
     "--http1-header-read-timeout", "20000", "--workers-kill-timeout", "8", \
     "--workers", "4", "--host", "0.0.0.0", "--port", "8000"]

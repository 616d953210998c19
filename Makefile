# Commands for people. `make run` and `make test` need only Python 3.11+ and make. They install what else they need, or
# say what is missing.

PORT ?= 8000

# Use the distribution's Python if it is new enough: it is built with profile-guided optimization. Without that, as with
# pyenv's default, the service is a fifth slower.
SUITS := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
PYTHON3 ?= $(shell /usr/bin/python3 -c '$(SUITS)' 2> /dev/null && echo /usr/bin/python3 || echo python3)

PYTHON := .venv/bin/python
STAMP := .venv/installed
DEV_STAMP := .venv/installed-dev

.PHONY: run test check static install lint lock docs messages letters pictures bench services

# PDF letters need Pango. If it cannot be installed, everything else still works.
run: install
	@sh tests/services.sh paper || true
	@exec $(PYTHON) manage.py run --port $(PORT)

# The service's own packages. Lint and tests add theirs to the same environment.
install: $(STAMP)

# pip does not compile: Python compiles on import, which is less than half of the packages. pip itself is updated first,
# because Python 3.11's version takes twice the processor time to choose wheels.
$(STAMP): requirements-pip.lock requirements.lock
	@$(PYTHON3) -c '$(SUITS)' || { echo "Python 3.11 or newer with ensurepip is needed (on Debian: python3-venv)."; exit 1; }
	$(PYTHON3) -m venv .venv
	@sh tests/install.sh requirements-pip.lock
	@sh tests/install.sh requirements.lock
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(STAMP)
	@sh tests/install.sh requirements-dev.lock
	@touch $@

test: $(DEV_STAMP) services
	$(PYTHON) -m tests.run

check: static
	$(PYTHON) -m pytest -q -n auto --only fast

# Static checks, without running the tests.
static: $(DEV_STAMP)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy .
	.venv/bin/lint-imports
	$(PYTHON) -m tests.patterns
	$(PYTHON) -m tests.english

lint: static
	DATA_DIR=.cache/data $(PYTHON) manage.py makemigrations --check --dry-run
	@mkdir -p .cache
	DATA_DIR=.cache/data $(PYTHON) manage.py spectacular --format openapi-json --validate --fail-on-warn --file .cache/openapi.json
	diff -u docs/openapi.json .cache/openapi.json

docs: $(DEV_STAMP)
	DATA_DIR=.cache/data $(PYTHON) manage.py spectacular --format openapi-json --file docs/openapi.json
	DATA_DIR=.cache/data $(PYTHON) -m docs.roles
	DATA_DIR=.cache/data $(PYTHON) -m docs.personal_data
	DATA_DIR=.cache/data $(PYTHON) -m docs.record_fields
	DATA_DIR=.cache/data $(PYTHON) manage.py pack_pages

# Writes the strings of templates and code to locale/. Translations that are missing are then empty.
messages: $(DEV_STAMP)
	DATA_DIR=.cache/data $(PYTHON) -m tests.messages

# Overwrites the corpus with the letters as drafted today. Read the diff before you commit it.
letters: $(DEV_STAMP)
	$(PYTHON) -m tests.corpus

pictures: $(DEV_STAMP)
	@sh tests/services.sh pictures
	DATA_DIR=.cache/data $(PYTHON) -m docs.screenshots

bench: $(DEV_STAMP) services .cache/peers/installed
	@$(PYTHON) -m bench $(PART)

# A separate environment with the services that `make bench` compares.
.cache/peers/installed: bench/peers.lock
	$(PYTHON3) -m venv --clear .cache/peers
	.cache/peers/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement bench/peers.lock
	@touch $@

# Programs other than Python that tests and benchmarks need.
services:
	@sh tests/services.sh

lock: $(DEV_STAMP)
	.venv/bin/uv pip compile -q pyproject.toml --upgrade --universal --generate-hashes --no-emit-index-url --no-header -o requirements.lock
	.venv/bin/uv pip compile -q pyproject.toml -c requirements.lock --group dev --universal --generate-hashes --no-emit-index-url --no-header -o requirements-dev.lock
	echo pip | .venv/bin/uv pip compile -q - --upgrade --universal --generate-hashes --no-emit-index-url --no-header -o requirements-pip.lock
	.venv/bin/uv pip compile -q tests/ministack.in --upgrade --universal --generate-hashes --no-emit-index-url --no-header -o tests/ministack.lock
	.venv/bin/uv pip compile -q pyproject.toml -c requirements.lock --group bench --universal --generate-hashes --no-emit-index-url --no-header -o bench/peers.lock

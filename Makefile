# demo, demo-once and drill need only requirements.lock; the other targets need requirements-dev.lock as well.
PYTHON := .venv/bin/python
RUN := .venv/.installed-requirements.lock
DEV := .venv/.installed-requirements-dev.lock
PACKAGES := core tasks_app approvals_app chaos_app clients/python/handrail_gate examples/outside_agent
# Whole files to as many processes as there are cores, four at most; the browser tests keep their place at the end.
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 1
LOCK := uv pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-emit-index-url --no-annotate --no-header

# Python keeps what it compiled (__pycache__): a stack, its drills and its tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-once up drill broken test bench picture peers check lock

help:
	@echo "make demo       everything, with ten incidents to work on; prints a sign-in link; Ctrl-C stops it"
	@echo "make demo-once  the same without a person: workers are killed, effects are counted outside; exit 0 if all is well"
	@echo "make up         everything, empty; Ctrl-C stops it"
	@echo "make drill      the core drills, each judged by what happened outside"
	@echo "make broken     the product, broken on purpose: do the drills see it?   (make broken ARGS=key; some ten minutes)"
	@echo "make test       all tests   (make test ARGS='-k lease')"
	@echo "make bench      the figures, as JSON lines"
	@echo "make peers      two peers in an environment of their own, for make bench to run beside us"
	@echo "make check      linters, types, import rules, templates, migrations, settings"
	@echo "make picture    the README's picture, taken of the real page (needs a Chromium)"
	@echo "make lock       resolve the lock files anew from pyproject.toml (needs uv)"

$(RUN): requirements.lock .ci/environment
	@.ci/environment requirements.lock

$(DEV): requirements-dev.lock .ci/environment
	@.ci/environment requirements-dev.lock
	@touch $(RUN)

demo: $(RUN)
	@exec $(PYTHON) manage.py demo

demo-once: $(RUN)
	@exec $(PYTHON) manage.py demo --once

up: $(RUN)
	@exec $(PYTHON) manage.py up

drill: $(RUN)
	@exec $(PYTHON) manage.py drill run --suite core

broken: $(DEV)
	@exec $(PYTHON) -m tests.drills.broken $(ARGS)

test: $(DEV)
	@exec $(PYTHON) -m pytest $(SIDE_BY_SIDE) $(ARGS)

bench: $(DEV)
	@exec $(PYTHON) -m tests.bench $(ARGS)

picture: $(DEV)
	@exec $(PYTHON) -m tests.browser.picture

peers: $(DEV)
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r tests/bench/peers.txt

check: $(DEV)
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy $(PACKAGES) manage.py
	.venv/bin/lint-imports
	find templates */templates -name '*.html' -print0 2>/dev/null | xargs -0 -r .venv/bin/djade --target-version 6.1 --check
	$(PYTHON) manage.py check --fail-level WARNING
	$(PYTHON) -m pytest -q tests/integration/test_migrations.py

lock:
	@PATH="$(PATH):.venv/bin"; command -v uv >/dev/null || { echo "make lock needs uv (https://docs.astral.sh/uv/)." >&2; exit 1; }
	@PATH="$(PATH):.venv/bin" $(LOCK) pyproject.toml -o requirements.lock
	@PATH="$(PATH):.venv/bin" $(LOCK) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock

# One command each.  `make` alone lists them.
#
#   make run PORT=8600        another port
#   make run HOST=10.0.0.7    the address to print for a class (the app listens on every interface)
#   make hall PROCESSES=4     several processes behind nginx, as for 150 students; other settings: deploy/settings.env
#   make test PYTHON=python3.12

PORT ?= 8501
HOST ?= localhost
# Browser tests wait a lot, so one more than the two cores that the suite is made for.
WORKERS ?= 3
PYTHON ?= $(shell sh tools/find_python.sh)
VENV_PYTHON := .venv/bin/python
# The tiny model's matrices are small: more threads would only wait for each other.
export OPENBLAS_NUM_THREADS := 1

.PHONY: help run hall test test-long check format bench clean

help:
	@echo "make run      install what the app needs, start it, print its address"
	@echo "make hall     the same for many readers: several processes behind nginx"
	@echo "make test     install what the tests need, run all of them"
	@echo "make test-long  properties of the simulator on many more examples: before a release"
	@echo "make check    formatting, lint, types and order of imports, then the tests and what of sim/ they reach"
	@echo "make format   put the code into shape"
	@echo "make bench    measure what we claim about speed"
	@echo "make clean    remove .venv and all caches"

run: .venv/.ready-to-run
	@echo "Starting the course at http://$(HOST):$(PORT)  (stop it with Ctrl+C)"
	@$(VENV_PYTHON) -m streamlit run serve.py \
		--server.headless true --server.port $(PORT) --browser.serverAddress $(HOST)

hall: .venv/.ready-to-run
	@sh tools/ensure_nginx.sh
	@$(if $(PROCESSES),PROCESSES=$(PROCESSES)) $(VENV_PYTHON) -m deploy.hall

test: .venv/.ready-to-test
	@sh tools/ensure_chromium.sh $(VENV_PYTHON)
	@sh tools/ensure_nginx.sh
	@sh tools/test_javascript.sh
	$(VENV_PYTHON) -m pytest --numprocesses $(WORKERS) --dist worksteal $(COVERAGE)

test-long: .venv/.ready-to-test
	EXAMPLES=long $(VENV_PYTHON) -m pytest --numprocesses auto --dist worksteal --timeout 1800 tests/sim

check: .venv/.ready-to-test
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m mypy
	.venv/bin/lint-imports --no-cache
	@$(MAKE) --no-print-directory test COVERAGE="--cov=sim --cov-branch --cov-report=term:skip-covered"

format: .venv/.ready-to-test
	$(VENV_PYTHON) -m ruff check --fix .
	$(VENV_PYTHON) -m ruff format .

# All but the one that needs a file of measured requests.
bench: .venv/.ready-to-test
	@sh tools/ensure_chromium.sh $(VENV_PYTHON)
	@for file in $(filter-out benchmarks/measured_run.py,$(wildcard benchmarks/[a-z]*.py)); do \
		echo "== $$file"; \
		$(VENV_PYTHON) -m "benchmarks.$$(basename "$$file" .py)" || exit 1; \
	done

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment.  An empty file marks each finished stage, so a second run starts at once.
.venv/.made:
	@sh tools/make_venv.sh "$(PYTHON)"
	@touch $@

.venv/.ready-to-run: requirements.txt .venv/.made
	@echo "Installing what the app needs into .venv (once, a minute or so)"
	@$(VENV_PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/.ready-to-test: requirements-dev.txt requirements.txt .venv/.made
	@echo "Installing what the tests need into .venv (once, a minute or so)"
	@$(VENV_PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

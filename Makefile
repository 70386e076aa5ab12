# `make demo` runs an example from data to reports, `make test` everything that must hold, `make check` the quick part of that.
# They set themselves up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo check test lint fuzz fresh-kernels docs dimension-study study study-classification study-density study-local study-numbers study-regression bench clean

demo: $(VENV)/.ready
	$(BIN)/ebnc demo --force

check: $(VENV)/.ready-test lint fresh-kernels
	$(BIN)/pytest -n 2 -m "not slow" tests src

test: $(VENV)/.ready-test lint fresh-kernels
	$(BIN)/pytest -n 2

# A compiled kernel is cached with the date of its own file; it may inline another one.
fresh-kernels:
	for source in src/ebnc/kernels/*.py; do \
	  find src/ebnc/kernels -name '*.nb[ic]' ! -newer $$source -delete; \
	done

lint: $(VENV)/.ready-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Random tables against the written rules, and damaged model files; seeds of failures are printed.
fuzz: $(VENV)/.ready-test
	PYTHONPATH=tests:. $(BIN)/python tests/fuzz.py $(FUZZ)

# The documentation site, in site/; any warning, and any page that would fetch from elsewhere, is an error.
docs: $(VENV)/.ready-docs
	$(BIN)/mkdocs build --strict --quiet
	! grep -rlE '<(script|link|img|iframe)[^>]*(src|href)="?(https?:)?//' --include='*.html' site
	@echo "open site/index.html"

# The dimension functions against each other on 3 000 random structures (minutes).
dimension-study: $(VENV)/.ready-test
	$(BIN)/python -m benchmarks.dimension_study

# The study, part by part: make study-classification DATA=folder. Finished cells are not run again.
# ``study`` makes tables and figures, and the numbers in README and docs, from what is on file.
study-classification study-density study-local study-numbers study-regression: study-%: $(VENV)/.ready-test
	$(BIN)/python -m study.$* --data $(DATA)

study: $(VENV)/.ready-test
	$(BIN)/python -m study.report

# Ratios against a peer, in one run; also writes benchmarks/results.
bench: $(VENV)/.ready-test
	DATA=$(DATA) $(BIN)/python -m benchmarks.run

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --no-compile --editable . --group examples
# On all cores, and here: where Python may not write bytecode, every command would start a second later.
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null || true  # a package may hold what does not compile
	touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(BIN)/pip install --quiet --group test
	touch $@

$(VENV)/.ready-docs: $(VENV)/.ready
	$(BIN)/pip install --quiet --group docs
	touch $@

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

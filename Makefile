# 'make demo' and 'make test' do all set-up themselves; 'uv' is used if it is there, else 'venv' and 'pip'.
PYTHON ?= python3
BIN := .venv/bin
# Commands start three times as fast when compiled modules are kept.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: demo check test search coverage bench site wheel lock clean

# $(call install,demo) makes .venv and installs requirements/demo.txt, with hashes, and the package.
define install
@if [ ! -e .venv/.$(1) ] || [ requirements/$(1).txt -nt .venv/.$(1) ] || [ pyproject.toml -nt .venv/.$(1) ]; then \
  set -e; \
  if command -v uv >/dev/null 2>&1; then \
    [ -e $(BIN)/python ] || uv venv --quiet --python $(PYTHON) .venv; \
    uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/$(1).txt; \
    uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
  else \
    [ -e $(BIN)/python ] || $(PYTHON) -m venv .venv; \
    $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$(1).txt; \
    $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
  fi; \
  touch .venv/.$(1); \
fi
endef

demo:
	$(call install,demo)
	@$(BIN)/semece fetch-model >/dev/null
	@$(BIN)/semece run --model local/smollm2 --dataset starter -n 10
	@$(BIN)/semece report runs/starter--local-smollm2.db -o report.html

check:
	$(call install,test)
	@$(BIN)/ruff format --check src tests benchmarks docs
	@$(BIN)/ruff check src tests benchmarks docs
	@$(BIN)/mypy
	@$(BIN)/pytest -q -n 3 --dist worksteal -m "not slow and not browser and not weights"

test:
	$(call install,test)
	@$(BIN)/semece fetch-model >/dev/null
	@$(BIN)/ruff format --check src tests benchmarks docs
	@$(BIN)/ruff check src tests benchmarks docs
	@$(BIN)/mypy
	@$(BIN)/pytest -q -n 3 --dist worksteal

# The same properties as in 'make test', on examples that differ each time.
search:
	$(call install,test)
	@$(BIN)/pytest -q -n 2 -m hypothesis --hypothesis-profile=search

# Branches of everything, then of the statistics alone; compiled kernels are measured as plain Python.
coverage:
	$(call install,test)
	@$(BIN)/coverage erase
	@$(BIN)/coverage run --parallel-mode -m pytest -q -m "not slow and not browser and not weights"
	@NUMBA_DISABLE_JIT=1 $(BIN)/coverage run --parallel-mode -m pytest -q -m "not slow" tests/stats
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered --fail-under=90
	@$(BIN)/coverage report --show-missing --fail-under=100 --include='src/semece/stats/*'

bench:
	$(call install,test)
	@$(BIN)/semece fetch-model >/dev/null
	@$(BIN)/python -m benchmarks

# The pages of docs/ as a site, without network; a dead link is an error.
site:
	$(call install,test)
	@$(BIN)/python docs/make_python.py
	@$(BIN)/zensical build --clean --strict

# The wheel, installed and tried in an empty environment of every supported Python that is found here.
wheel:
	@.ci/wheel

lock:
	@uv lock --quiet
	@requirements/export.sh

clean:
	@rm -rf .venv build dist site .mypy_cache .ruff_cache .hypothesis

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Dozens of processes import everything: bytecode is kept, also where the machine says otherwise.
export PYTHONDONTWRITEBYTECODE :=
# Tests run beside each other: threads of a matrix product would only wait for each other.
export OPENBLAS_NUM_THREADS := 1

.PHONY: reproduce test check kernels pytest bounds prove clean

reproduce: $(VENV)/run
	$(BIN)/paretozoom reproduce

test: # kernels are compiled while the tools are installed that they do not need
	$(MAKE) --jobs 2 --output-sync=line check pytest

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

kernels: $(VENV)/run # compiled once, before tests that need them run beside each other
	$(BIN)/python -m tests.warming

# One process more than there are cores: tests of the service wait for processes and for deadlines.
pytest: kernels $(VENV)/dev # files in the order of the tree: the longest are not left to the end
	$(BIN)/pytest -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist loadfile --no-loadscope-reorder -m "not proof"

bounds: $(VENV)/dev # with machine code that checks every index; it is kept apart
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m tests.warming
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n auto --dist loadfile -m "not proof" tests/kernels tests/policies

prove: kernels bounds
	$(BIN)/pytest -n auto -m proof
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/long.py
	$(BIN)/python benchmarks/rounds.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/pareto_zoom.py
	$(BIN)/python benchmarks/service.py

$(VENV)/run: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable .
	touch $@

$(VENV)/dev: $(VENV)/run # versions are fixed: what is there already stays as it is
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV)

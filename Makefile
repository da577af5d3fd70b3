PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: reproduce test prove clean

reproduce: $(VENV)/run
	$(BIN)/paretozoom reproduce

test: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto --dist loadfile -m "not proof"

prove: $(VENV)/dev
	$(BIN)/pytest -n auto -m proof
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/long.py
	$(BIN)/python benchmarks/rounds.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/pareto_zoom.py
	$(BIN)/python benchmarks/service.py

$(VENV)/run: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/dev: $(VENV)/run
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV)

# The one entry point. Every target creates or updates the environment .venv first, which is quick when it is up to date.
PY := .venv/bin/python
export PYTHONUTF8 := 1
.DEFAULT_GOAL := help
.PHONY: help setup book serve test notebooks models bench lab lint clean clean-env

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

setup:  ## create the environment (Python 3.11, 3.12 or 3.13)
	@python=$$(sh tools/find-python.sh) && "$$python" tools/bootstrap.py

book: setup  ## build the site into _build/html
	@$(PY) tools/book.py

serve: setup  ## build the site and serve it; PORT=8000 chooses another port
	@$(PY) tools/serve.py

test: setup  ## run the whole suite; ARGS="tests/lib -n 0" runs a part of it
	@$(PY) tools/vendor.py
	@$(PY) -m pytest $(ARGS)

notebooks: setup  ## execute every notebook and save it with its outputs; ARGS=... names some
	@$(PY) tools/notebooks.py $(ARGS)

models: setup  ## train the models whose weights lie in models/ and are missing; ARGS=language names one
	@$(PY) tools/models.py $(ARGS)

bench: setup  ## measure speed beside other libraries; ARGS="--only training --rounds 3" measures less
	@$(PY) tools/peers.py
	@$(PY) -m benchmarks $(ARGS)

lab: setup  ## open JupyterLab
	@$(PY) -m jupyter lab
lint: setup  ## ruff, notebooks too
	@$(PY) -m ruff check . && $(PY) -m ruff format --check .
clean:  ## delete what was built
	@rm -rf _build .cache .pytest_cache .ruff_cache
clean-env: clean  ## delete the environment too
	@rm -rf .venv

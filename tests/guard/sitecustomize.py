"""Python imports this at its start, since the suite puts this folder first on PYTHONPATH: kernels and workers too
have no network. The sitecustomize that this one hides, if any, is run after it."""

import sys
from importlib import machinery, util
from pathlib import Path

import network

network.block()
# jsonschema tries it, and it builds forty grammars for what no notebook has
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

here = Path(__file__).parent
elsewhere = [entry for entry in sys.path if Path(entry or ".").absolute() != here]
spec = machinery.PathFinder.find_spec("sitecustomize", elsewhere)
if spec is not None and spec.loader is not None:
    spec.loader.exec_module(util.module_from_spec(spec))

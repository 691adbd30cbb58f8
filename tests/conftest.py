"""For the tests proper: shapes enforced, fixed seeds, no network."""

import inspect
import os
import random
import shutil
import sys
from collections.abc import Callable

import jaxtyping
import numpy as np
import pytest
import torch
from clearclass.class_run import TRUST_VARIABLE
from hypothesis import HealthCheck, settings

from tests.guard import network

if shutil.which("bwrap") is None:  # the classes of the tests can be trusted
    os.environ.setdefault(TRUST_VARIABLE, "1")
network.block()
jaxtyped = jaxtyping.jaxtyped


def jaxtyped_where_annotated(*, typechecker: Callable) -> Callable:
    """``jaxtyped``, which the hook puts around every function, but not where nothing is annotated and nothing checked:
    most calls are of such functions, and cost as much."""
    checked = jaxtyped(typechecker=typechecker)
    return lambda it: it if inspect.isfunction(it) and not it.__annotations__ else checked(it)


jaxtyping.jaxtyped = jaxtyped_where_annotated  # type: ignore[assignment]
# Every annotated function of the library, and of what the notebooks import, checks its arguments and its result.
jaxtyping.install_import_hook(["clearformer", "clearbook"], "beartype.beartype")

# No test fails because the machine is busy.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


NUMPY_PRINTS = np.get_printoptions()
NO_CUDA = "needs a CUDA device"


def pytest_collection_modifyitems(items):
    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason=NO_CUDA))


@pytest.fixture(scope="module", autouse=True)
def no_settings_of_a_page():
    """A page that a test runs in this process sets the style of figures and how numbers are printed, for good: every
    file of tests finds them as a new process does, whatever file ran before."""
    np.set_printoptions(**NUMPY_PRINTS)
    torch.set_printoptions(profile="default")
    if matplotlib := sys.modules.get("matplotlib"):
        matplotlib.rc_file_defaults()


@pytest.fixture(autouse=True)
def fixed_seeds():
    """The same random numbers in every run, whatever ran before."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)

"""What ``import clearformer`` offers, and what it costs."""

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import clearformer
import clearformer.models
import pytest


@pytest.mark.parametrize("package", [clearformer, clearformer.models], ids=["clearformer", "models"])
def test_the_names_that_people_start_with_are_there(package):
    """Catches a name that leads nowhere, and one that a module of the same name hides."""
    for module in {"generation", "training", "pretrained", "tokenizers", *clearformer._HOME.values()}:
        importlib.import_module(f"clearformer.{module}")
    assert len(package.__all__) >= 10 and {*package.__all__} <= {*dir(package)}
    for name in package.__all__:
        found = getattr(package, name)
        assert found.__name__ == name and (inspect.isclass(found) or inspect.isfunction(found))


def test_type_checkers_see_the_same_names():
    """Catches a name that is there, and that an editor underlines."""
    stub = ast.parse(Path(clearformer.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    seen = {node.names[0].asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom)}
    assert seen == {name: f"clearformer.{module}" for name, module in clearformer._HOME.items()}


@pytest.mark.parametrize("package", [clearformer, clearformer.models], ids=["clearformer", "models"])
def test_another_name_is_refused_with_those_there_are(package):
    with pytest.raises(AttributeError, match=r"no attribute 'LSTM', only .*BERT"):
        package.LSTM  # noqa: B018
    with pytest.raises(ImportError, match="LSTM"):
        exec(f"from {package.__name__} import LSTM")


def test_the_version_is_listed_and_a_copy_that_is_not_installed_has_none(tmp_path):
    """Catches ``dir`` without the version, and ``hasattr`` answered with a missing package where there is none."""
    assert "__version__" in dir(clearformer)
    shutil.copytree(Path(clearformer.__file__).parent, tmp_path / "clearformer", ignore=shutil.ignore_patterns("*.pyc"))
    code = "import clearformer; print(clearformer.__file__, hasattr(clearformer, '__version__'))"
    command = [sys.executable, "-S", "-c", code]  # without the packages of the environment
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == [str(tmp_path / "clearformer" / "__init__.py"), "False"], done.stderr


@pytest.mark.slow
def test_the_reference_and_the_list_of_names_need_numpy_alone():
    """Catches an import of torch before one of its names is asked for."""
    code = """
        import sys
        import clearformer, clearformer.models, clearformer.reference.attention
        assert {"GPT", "generate"} <= {*dir(clearformer)} and "ViT" in dir(clearformer.models)
        heavy = {"torch", "safetensors", "tqdm"} & sys.modules.keys()
        from clearformer import GPT
        print(sorted(heavy), GPT.__module__)
    """
    done = subprocess.run([sys.executable, "-c", inspect.cleandoc(code)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["[]", "clearformer.models.gpt"]), done.stderr

"""What the documents say is there is there, and what they tell you to type can be typed."""

import importlib
import json
import math
import re
import shlex
import tomllib
from pathlib import Path

import clearformer
import pytest
from clearcheck.worker import limits

from tests.book.pages import MADE, UNLISTED, toc
from tests.docs.skips import skip_reasons
from tools.checks import release
from tools.setup.targets import TARGETS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "DECISIONS.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "lib/clearcheck/AUTHORING.md",
    "lib/clearcheck/README.md",
    "lib/clearclass/README.md",
    "tests/README.md",
    "tools/site/README.md",
    "index.md",
    "chapters/setup.md",
    "chapters/repository.md",
    "chapters/grading.md",
    "chapters/instructor.md",
]
TOP_LEVEL = {path.name for path in ROOT.iterdir()}
GENERATED = {".venv", "_build", ".cache", "build", "dist", "results", ".clearcheck"}
RELEASED = ("pyproject.toml", "CHANGELOG.md", "CITATION.cff")
PLACEHOLDER = re.compile(r"NN|slug|\.\.\.|[*<{]")


def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf8")


def code_spans(document: str) -> list[str]:
    prose = re.sub(r"```.*?```", "", text(document), flags=re.S)
    return re.findall(r"`([^`\n]+)`", prose)


def commands(document: str) -> list[str]:
    blocks = re.findall(r"```(?:sh|bash|console)\n(.*?)```", text(document), flags=re.S)
    lines = [line for block in blocks for line in re.sub(r"\\\n *", "", block).splitlines()]  # a backslash joins two
    return [line.split("  #")[0].strip() for line in lines if line.strip()]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_command_is_a_target(document):
    said = commands(document) + code_spans(document)
    for command in said:
        words = shlex.split(command) if command.startswith("make ") else []
        named = [word for word in words[1:] if "=" not in word]
        assert set(named) <= set(TARGETS), command


def test_the_two_commands_stand_on_the_first_screen():
    first = text("README.md").splitlines()[:20]
    assert any(line.startswith("make serve") for line in first)
    assert any(line.startswith("make test") for line in first)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_named_exists(document):
    for span in code_spans(document):
        path = span.split("#")[0].strip()
        first = path.split("/")[0]
        looks_like_path = "/" in path or re.search(r"\.(md|py|toml|yml|txt|ipynb|cff)$", path)
        if not looks_like_path or first in GENERATED or " " in path or PLACEHOLDER.search(path):
            continue
        bases = [ROOT, (ROOT / document).parent, *(ROOT / "exercises" / "authoring").glob("*/")]
        if first in TOP_LEVEL or path.endswith((".md", ".py", ".toml", ".yml", ".txt", ".ipynb", ".cff")):
            assert any((base / path).exists() for base in bases), f"{document} names {path}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_modules_run_from_the_command_line_exist(document):
    for command in commands(document) + code_spans(document):
        for module in re.findall(r"python -m ([\w.]+)", command):
            ours = ROOT / "lib" / module / "__main__.py", ROOT / f"{module.replace('.', '/')}.py"
            known = any(path.exists() for path in ours) or module in {"venv", "pip", "pytest", "http", "coverage"}
            assert known, command


def test_the_map_names_every_folder_and_nothing_else():
    rows = re.findall(r"^\| (`[^|]+`) \|", text("README.md").split("## The map")[1], re.M)
    named = {span.strip("/").split("/")[0] for row in rows for span in re.findall(r"`([^`]+)`", row)}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert folders - GENERATED - {"__pycache__"} <= named
    assert named <= TOP_LEVEL


def test_the_tests_readme_names_every_folder_of_tests():
    named = set(re.findall(r"^\| `([a-z]+)/` \|", text("tests/README.md"), re.M))
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert named == folders


def test_the_library_is_not_ignored():
    patterns = [line.strip("/ ") for line in text(".gitignore").splitlines()]
    assert not {"lib", "lib64", "*.ipynb"} & set(patterns)


def test_every_page_of_the_contents_exists():
    files = [file for file in (*toc(), *UNLISTED) if not file.startswith(MADE)]
    for file in files:
        assert any((ROOT / f"{file}{suffix}").exists() for suffix in (".md", ".ipynb")), file
    found = [path for pattern in ("*.ipynb", "*.md") for path in (ROOT / "chapters").rglob(pattern)]
    published = {path.relative_to(ROOT).with_suffix("").as_posix() for path in found if path.parent.name[0] != "."}
    assert {page for page in published if not page.startswith(MADE)} == {*files} - {"index"}, (
        "a page in chapters/ is missing from _toc.yml"
    )


def test_every_skip_is_listed_with_its_reason():
    listed = set(re.findall(r"^\| (needs [^|]+?) \|", text("tests/README.md"), re.M))
    found = {reason for path in (ROOT / "tests").rglob("*.py") for reason in skip_reasons(path)}
    assert found == listed


def test_skips_without_a_reason_are_noticed(tmp_path):
    file = tmp_path / "test_x.py"
    lines = [
        "import pytest",
        "WHY = 'needs luck'",
        "pytest.skip('needs rain')",
        "pytest.mark.skipif(True, reason=WHY)",
        "pytest.mark.skip()",
        "pytest.importorskip('x')",
        "other.skip('no')",
    ]
    file.write_text("\n".join(lines))
    assert skip_reasons(file) == ["needs rain", "needs luck", "?", "needs x"]


def test_the_versions_named_agree():
    """Catches a Python that one place names and another has forgotten, and a bound that refuses a newer one."""
    project = tomllib.loads(text("pyproject.toml"))["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={versions[0]}"
    listed = rf"{', '.join(versions[:-1])} (and|or) {versions[-1]}"
    pattern = f"{listed}|{versions[0]} ?(to|–) ?{versions[-1]}".replace(".", r"\.")
    for document in ("README.md", "chapters/setup.md"):
        assert re.search(pattern, text(document)), document
    assert json.dumps(versions) in text(".github/workflows/tests.yml")


def test_the_version_stands_once_and_is_repeated_where_it_must(tmp_path):
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    assert clearformer.__version__ == version
    assert release.notes(f"v{version}", copy_of_released(tmp_path))
    for path in (ROOT / "lib").glob("*/__init__.py"):
        assert version not in path.read_text(encoding="utf8"), path


def copy_of_released(folder: Path) -> Path:
    """The files that a release looks at, as if nothing new were waiting in changelog.d."""
    for name in RELEASED:
        (folder / name).write_text(text(name), encoding="utf8")
    return folder


@pytest.mark.parametrize("name", ["clearcheck", "clearclass"])
def test_the_commands_of_the_grader_are_there(name):
    """Catches a console script that names what is not in the package."""
    module, function = tomllib.loads(text("pyproject.toml"))["project"]["scripts"][name].split(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.slow
def test_the_library_is_used_as_the_readme_prints_it(tmp_path, monkeypatch, capsys):
    """In a folder with a small checkpoint of the name that the README loads, which otherwise comes from the hub."""
    _, snippet = snippets("README.md")
    assert len(snippet.splitlines()) <= 8
    write_checkpoint(tmp_path / "gpt2")
    monkeypatch.chdir(tmp_path)
    exec(snippet, {"__name__": "__main__"})
    said = capsys.readouterr().out
    assert said.startswith("Attention is") and len(said) > len("Attention is ")


@pytest.mark.slow
def test_a_model_is_trained_as_the_readme_prints_it(tmp_path, monkeypatch, capsys):
    """Catches a name, an argument or a file that is no longer so, and a training that learns nothing."""
    program, _ = snippets("README.md")
    assert len(program.splitlines()) <= 15 + 1  # with an empty line
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    exec(program, names)
    said = capsys.readouterr().out
    assert said.startswith("She was ") and len(said) == len("She was ") + 50 + 1
    ids, loss = names["ids"], names["next_token_loss"]
    untrained = math.log(names["tokenizer"].n_vocab)
    assert loss(names["model"], ids[None, :64], ids[None, 1:65]) < 0.8 * untrained


def snippets(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text(document), re.S)


def write_checkpoint(folder: Path):
    from clearformer.models.gpt import GPT, GPTConfig
    from clearformer.pretrained import save_pretrained
    from tokenizers import ByteLevelBPETokenizer

    sizes = {"n_positions": 64, "d_model": 16, "n_heads": 2, "n_layers": 1}
    save_pretrained(GPT(GPTConfig.preset("gpt2", n_vocab=300, **sizes)), folder)
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(["Attention is all you need"], vocab_size=300, special_tokens=["<|endoftext|>"])
    tokenizer.save_model(str(folder))


def test_the_makefile_stays_small():
    assert len(text("Makefile").splitlines()) <= 40


def test_the_limits_that_the_book_names_are_those_of_the_grader():
    """Catches a clock of the grader that was set anew, and a page that goes on telling the old time."""
    told = re.search(
        r"One cell may compute for (\d+) seconds, one call for (\d+) .*?, a whole notebook for (\d+)\."
        r".* a whole notebook after (\d+) seconds\.",
        text("chapters/grading.md"),
    )
    assert told is not None
    assert [float(number) for number in told.groups()] == [
        limits.CELL_SECONDS,
        limits.CALL_SECONDS,
        limits.SUBMISSION_SECONDS,
        limits.SUBMISSION_NET_SECONDS,
    ]

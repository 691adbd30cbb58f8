"""What a reader takes home from the site: checks without answers, all files, notebooks that say what to do."""

import ast
import json
import re
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from clearcheck.author.loading import AUTHORING, slugs_in

from tools.takeaway import downloads, learners_copy
from tools.takeaway.learners_copy import load

ROOT = Path(__file__).parents[2]
ADDRESS = "https://example.org/course/"
CHAPTER, EXERCISE = Path("chapters/03-self-attention.ipynb"), Path("exercises/03-self-attention.ipynb")
SLUGS = slugs_in(ROOT / AUTHORING)


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """The folder dist of a site, as a build leaves it."""
    site = tmp_path_factory.mktemp("site")
    downloads.write_downloads(site, ADDRESS)
    return site / "dist"


@pytest.fixture(scope="module")
def course(dist, tmp_path_factory) -> Path:
    """The archive, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(dist / "course.zip") as archive:
        archive.extractall(folder)
    return folder / "clearformer"


@pytest.fixture(scope="module")
def wheel(dist, tmp_path_factory) -> Path:
    """The wheel, unpacked, which is what pip does with it."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(dist / downloads.wheel_name()) as archive:
        archive.extractall(folder)
    return folder


@cache
def as_written(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / path, as_version=4)


def code(notebook: dict) -> str:
    return "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")


@cache
def definitions(path: Path) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes of a question's file, those that stand there as a text included."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "whole":
            found.append(ast.parse(node.args[3].value).body[0])
    return found


@cache
def programs(path: Path) -> list[tuple[str, str]]:
    """Name and program of each definition in a question's file."""
    return [(node.name, program(node)) for node in definitions(path)]


def program(node: ast.FunctionDef | ast.ClassDef) -> str:
    """What a definition does, without its name, its decorators and its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    arguments = ast.unparse(node.args) if isinstance(node, ast.FunctionDef) else ""
    return "\n".join([arguments, *map(ast.unparse, body)])


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
def test_no_right_answer_travels(wheel, slug):
    """Catches a right solution, the author's or another, in the files that grade on a learner's machine. What a check
    compares with has to be there, and may be written like an answer.
    """
    authored, folder = load(slug, ROOT), wheel / "clearcheck" / "course" / AUTHORING / slug
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "BEGIN SOLUTION" not in text and "@right" not in text, path
    for entry in authored.right.entries:
        file, answer = f"{entry.question.replace('-', '_')}.py", program(ast.parse(entry.source).body[0])
        plain = {node.name for node in definitions(authored.folder / file) if not node.decorator_list}
        found = {name for name, text in programs(folder / file) if text == answer}
        assert found <= plain, f"{entry.question}: {entry.name}"


@pytest.mark.slow
@pytest.mark.parametrize("slug", SLUGS)
def test_every_check_and_every_mistake_travels(wheel, slug):
    """Catches a check that is lost, and a mistake whose name, sentence or code changes when it becomes whole."""
    here, there = load(slug, ROOT), load(slug, wheel / "clearcheck" / "course")
    assert there.folder.is_relative_to(wheel) and there.right.entries == []
    asked = [
        [(q.id, q.points, q.hints, [check.name for check in q.checks]) for q in it.exercise.questions]
        for it in (here, there)
    ]
    assert asked[0] == asked[1]
    known = [[(w.question, w.name, w.says, w.section, w.source) for w in it.wrong.entries] for it in (here, there)]
    assert known[0] == known[1] and known[0]


def test_helpers_of_answers_stay_behind_and_others_travel():
    """Catches half an answer in a function that only answers call, and a check that misses its helper."""
    text = '''\
def step(x):
    return x + 1


def drawn(rng):
    return limit(rng)


def limit(x):
    return x


QUESTION = Question(cases=drawn)
right, wrong = answers_to(QUESTION)


@right
def by_steps(x):
    """Two of them."""
    return step(step(x))


@wrong("You stop early.")
def one(x):
    return x


wrong.edits("""
# by_steps
## twice [steps]: You step twice.
- return step(step(x))
+ return x * 2
""")
'''
    edit = learners_copy.Solution("q", lambda x: x, "You step twice.", "steps", "def twice(x):\n    return x * 2")
    object.__setattr__(edit.function, "__name__", "twice")
    kept = learners_copy.without_answers(text, {"twice": edit})
    names = [node.name for node in ast.parse(kept).body if isinstance(node, ast.FunctionDef)]
    assert names == ["drawn", "limit", "one"]
    assert kept.rstrip().endswith(f"wrong.whole('twice', 'You step twice.', 'steps', {edit.source!r}, '', ())")


def test_edits_that_cannot_be_read_are_told():
    """Catches mistakes that are dropped in silence."""
    with pytest.raises(ValueError, match=r"Line 1: wrong\.edits\(TEXT\) is given something else than one plain text"):
        learners_copy.without_answers("wrong.edits(TEXT)\n", {})


@pytest.mark.slow
def test_the_archive_is_complete(course):
    """Catches a chapter, an exercise or a file to set up with that is missing, and what should have stayed at home."""
    names = {path.relative_to(course).as_posix() for path in course.rglob("*") if path.is_file()}
    notebooks = [*ROOT.glob("chapters/**/*.ipynb"), *ROOT.glob("exercises/*.ipynb")]
    wanted = {path.relative_to(ROOT).as_posix() for path in notebooks}
    wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "lib").rglob("*.py")}
    wanted |= {"README.md", "requirements.txt", "constraints.txt", "pyproject.toml", "LICENSE", "chapters/glossary.md"}
    assert wanted <= names
    unwanted = "solutions|grader-proof|chapters/(setup|repository)|__pycache__|^tests|^tools"
    assert not [name for name in names if re.search(unwanted, name)]
    named = re.findall(r"`([\w./-]+/)`|(\w+/[\w-]+\.ipynb)", (course / "README.md").read_text())
    assert named and all((course / "".join(found)).exists() for found in named)


@pytest.mark.slow
def test_what_chapters_read_is_in_archive_and_wheel(course, wheel):
    """Catches a chapter that stops on another machine since its model or its results are not there."""
    text = "".join(code(json.loads((ROOT / path).read_text())) for path in downloads.notebooks())
    asked = re.findall(r"course_file\(\"([^\"]+)\"\)", text)
    assert asked
    for name in asked:
        assert (course / name).exists() and (wheel / "clearbook" / "course" / name).exists(), name


@pytest.mark.slow
def test_files_that_a_reader_types_are_in_archive_and_wheel(course, wheel):
    """Catches a chapter that imports transformer.py and stops for a reader who has not typed it."""
    names = [path.relative_to(ROOT) for path in (ROOT / "chapters").glob("*.py")]
    assert names
    for name in names:
        assert (course / name).is_file() and (wheel / "clearbook" / "course" / name).is_file(), name


@pytest.mark.parametrize("path", downloads.notebooks(), ids=str)
def test_no_notebook_reads_beside_itself(path):
    """Catches a relative path, which leads nowhere from a notebook that is alone; course_file finds the file."""
    source = code(json.loads((ROOT / path).read_text(encoding="utf-8")))
    elsewhere = re.sub(r"course_file\([^)]*\)", "", source)
    assert re.findall(r"[\"'](?:\.\.?/|models/|benchmarks/)[^\"']*[\"']", elsewhere) == []


@pytest.mark.slow
def test_the_wheel_says_what_it_needs(wheel):
    """Catches a wheel that brings PyTorch along for an exercise in NumPy, or nothing for a chapter."""
    text = next(wheel.glob("*.dist-info/METADATA")).read_text(encoding="utf-8")
    needed = re.findall(r"^Requires-Dist: (.+)$", text, re.M)
    plain = [line for line in needed if "extra ==" not in line]
    assert {re.match(r"\w+", line)[0] for line in plain} == {"jaxtyping", "numpy"}
    assert [line for line in needed if re.match(r"clearformer\[torch\]", line) and "notebooks" in line]
    entries = next(wheel.glob("*.dist-info/entry_points.txt")).read_text(encoding="utf-8")
    assert "clearcheck = clearcheck.cli:main" in entries and "clearclass = clearclass.cli:main" in entries


@pytest.mark.slow
def test_the_same_course_gives_the_same_bytes(dist, tmp_path):
    """Catches times and folders of this machine in what is published."""
    load.cache_clear()
    downloads.write_packages(tmp_path, ADDRESS)
    for name in ("course.zip", downloads.wheel_name()):
        assert (tmp_path / "dist" / name).read_bytes() == (dist / name).read_bytes(), name


@pytest.mark.parametrize("address", [ADDRESS, ""])
@pytest.mark.parametrize("path", downloads.notebooks(), ids=str)
def test_a_published_notebook_has_one_cell_more(path, address):
    """Catches cells that are lost, changed or shown twice, and a notebook that Jupyter would not open."""
    before = as_written(path)
    after = nbformat.reads(downloads.published_notebook(ROOT, path, address), as_version=4)
    nbformat.validate(after)
    added = next(cell for cell in after.cells if cell.id == "install-the-course")
    kept = [cell for cell in after.cells if cell.id != added.id]
    first = next(n for n, cell in enumerate(after.cells) if cell.cell_type == "code")
    assert after.cells[first] is added and after.metadata == before.metadata
    assert [c.id for c in kept] == [c.id for c in before.cells]
    changed = [new.id for old, new in zip(before.cells, kept, strict=True) if new != old]
    markdown = [cell.id for cell in before.cells if cell.cell_type == "markdown"]
    assert set(changed) <= set(markdown if address else [])
    assert after.cells[first - 1].source.startswith("# ") or not before.metadata.get("run_seconds_at_most")


@pytest.mark.parametrize("address", [ADDRESS, ""])
def test_where_the_library_is_there_the_cell_does_nothing(monkeypatch, address):
    """Catches a pip that runs in every session, such as for a module that is called otherwise than its package."""
    monkeypatch.setattr("subprocess.check_call", lambda command: pytest.fail(f"ran {command}"))
    for path in (CHAPTER, EXERCISE):
        exec(downloads.install_cell(ROOT, path, address), {})


def test_where_it_is_missing_the_cell_installs_the_wheel_of_the_site(monkeypatch):
    """Catches an address typed by hand, another wheel than that of the pages, PyTorch that is not used or comes with
    gigabytes for a GPU, and a thousand progress bars that stay in the notebook."""
    ran = []
    monkeypatch.setattr("subprocess.check_call", ran.append)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for path in (CHAPTER, EXERCISE):
        exec(downloads.install_cell(ROOT, path, ADDRESS), {})
    monkeypatch.setattr(downloads, "asks_for_torch", lambda root, slug: False)  # an exercise with NumPy alone
    exec(downloads.install_cell(ROOT, EXERCISE, ADDRESS), {})
    wheel = f"{ADDRESS}dist/{downloads.wheel_name()}"
    assert [command[-1] for command in ran] == [
        *(f"clearformer[{extra}] @ {wheel}" for extra in ("notebooks", "torch")),
        f"clearformer @ {wheel}",
    ]
    assert all(command[1:4] == ["-m", "pip", "install"] for command in ran)
    assert all({"-q", downloads.CPU_INDEX} <= set(command) for command in ran)


def test_without_an_address_the_cell_says_in_words_what_to_do(monkeypatch):
    """Catches ModuleNotFoundError as the only thing that a reader is told."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    told = rf'Download {re.escape(downloads.wheel_name())} .* %pip install "path/to/clearformer-.*\.whl\[notebooks\]"'
    with pytest.raises(ImportError, match=told):
        exec(downloads.install_cell(ROOT, CHAPTER, ""), {})


def test_modules_are_known_by_the_names_they_are_imported_by():
    """Catches a package of the extra whose module has another name: the cell would install at every start."""
    modules = downloads.modules_of(ROOT, "notebooks")
    assert {"torch", "matplotlib"} <= set(modules) and "clearformer" not in modules
    assert [name for name in modules if find_spec(name) is None] == []


@pytest.mark.parametrize(
    ("link", "led"),
    [
        ("](02-attention.ipynb#average)", f"]({ADDRESS}chapters/02-attention.html#average)"),
        ("](../index.md)", f"]({ADDRESS}index.html)"),
        ("](solutions/03-self-attention.md)", f"]({ADDRESS}chapters/solutions/03-self-attention.html)"),
        ("](../exercises/03-self-attention.ipynb)", f"]({ADDRESS}dist/exercises/exercise-03-self-attention.ipynb)"),
        ("](glossary.md)", "](glossary.md)"),
        ("](#here)", "](#here)"),
        ("](https://example.com/a.md)", "](https://example.com/a.md)"),
        ("](picture.svg)", "](picture.svg)"),
    ],
)
def test_links_lead_to_the_site_unless_the_page_lies_beside(link, led):
    """Catches links of a single notebook that lead nowhere, and links in the archive that leave it without need."""
    assert downloads.relink_pages(f"see [it{link} now", "chapters", ADDRESS, frozenset({"chapters/glossary.md"})) == (
        f"see [it{led} now"
    )


@pytest.mark.slow
def test_published_links_lead_to_what_is_published(dist):
    """Catches an exercise that a downloaded notebook links to and that is not on the site."""
    text = "".join(downloads.published_notebook(ROOT, path, ADDRESS) for path in downloads.notebooks())
    linked = set(re.findall(rf"\]\({re.escape(ADDRESS)}dist/([^)]+)\)", text))
    assert linked and all((dist / name).exists() for name in linked)


def test_a_wheel_that_cannot_be_built_is_told(tmp_path, monkeypatch):
    """Catches a site that is published without its wheel."""
    (tmp_path / "exercises" / "authoring").mkdir(parents=True)
    (tmp_path / "lib" / "clearcheck" / "course" / "exercises").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "clearformer"\nversion = "9"\n')
    monkeypatch.setattr(downloads, "copy_data", lambda root, target: None)
    monkeypatch.setattr(downloads, "BUILD", "raise SystemExit('no builder')")
    with pytest.raises(downloads.NoWheel, match=r"clearformer-9-py3-none-any\.whl could not be built: no builder"):
        downloads.build_wheel(tmp_path, tmp_path)

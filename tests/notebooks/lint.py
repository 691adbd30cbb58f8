"""The rules that every notebook of the course keeps. Each rule yields one sentence a misfit."""

import ast
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.extension.lean_pages import LETTERS
from tools.extension.quiz import OPTIONS, question_above

MAX_LINES = 20
TYPED = {"in-transformer-py", "in-gpt-py", "in-decoder-py"}  # cells of files that a reader keeps
MAX_LINES_OF_A_CLASS = 36  # in a file that the reader types, where a class is a cell and follows its skeleton, folded
MAX_SECONDS = 60
MIN_ALT_WORDS = 4
MIN_POINTS = 8  # of a letter in a figure
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}([0-9a-f]{4,})?")
MAGIC = re.compile(r"^\s*(%|!|\?)|\?\s*$|^\s*[\w.]+\s*=\s*[%!]", re.M)
SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.S)
CODE = re.compile(r"\w\([^)]*[,=][^)]*\)|\w_\w|\w\[\S*\]|\w\.(json|bin|safetensors)\b")  # f(x, axis=0), d_model, q[1]
MACHINE_PATH = re.compile(r"(?<![\w.])(/home/|/root/|/Users/|/tmp/|/private/|/mnt/|/opt/|[A-Z]:\\\\?Users)")
BANNED_TAGS = {
    "skip-execution": "is ignored by nbval",
    "nbval-skip": "hides a cell from the comparison",
    "raises-exception": "passes when nothing is raised; catch the exception and print it",
}
# What a learner opens is generated, and asks the learner to define names.
CHAPTER_ONLY = ("redefined_names", "letters", "alt_text", "title", "run_time")


def lint(path: Path, exports: frozenset[str], chapter: bool = True) -> list[str]:
    """Every misfit of the notebook at path. Raises: ValueError if the file is no notebook."""
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:
        raise ValueError(f"{path.name} is not a valid notebook: {error}") from error
    rules = [rule for name, rule in RULES.items() if chapter or name not in CHAPTER_ONLY]
    return [f"{path.name}: {misfit}" for rule in rules for misfit in rule(notebook, exports)]


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def magic(notebook, exports):
    for cell in code(notebook):
        if match := MAGIC.search(cell.source):
            yield f"cell {cell.id} has a magic or a shell command ({match.group().strip()!r}); write plain Python."


def semicolon(notebook, exports):
    for cell in code(notebook):
        if re.search(r";\s*$", cell.source, re.M):
            yield f"cell {cell.id} ends a line with a semicolon; assign the value instead (_ = ...)."


def execution_counts(notebook, exports):
    counts = [cell.execution_count for cell in code(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}; run make notebooks."


def no_error(notebook, exports):
    for cell in code(notebook):
        if any(output.output_type == "error" for output in cell.outputs):
            yield f"cell {cell.id} holds an error; mend it and run make notebooks."


def ids(notebook, exports):
    for cell in notebook.cells:
        if RANDOM_ID.fullmatch(cell.id) or not re.fullmatch(r"[a-z][a-z0-9_-]+", cell.id):
            yield f"cell id {cell.id!r} says nothing; choose lower-case words, like 'softmax-by-hand'."
    known = [cell.id for cell in notebook.cells]
    for name in {name for name in known if known.count(name) > 1}:
        yield f"cell id {name!r} is used twice."


def length(notebook, exports):
    for cell in code(notebook):
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        tags = {*cell.metadata.get("tags", [])}
        typed = "hide-input" in tags and tags & TYPED
        most = MAX_LINES_OF_A_CLASS if typed else MAX_LINES
        if lines > most:
            yield f"cell {cell.id} has {lines} lines; split it (at most {most})."


def redefined_names(notebook, exports):
    shown = shown_equal(notebook)
    for cell in code(notebook):
        for name in sorted((defined_names(cell.source) & exports) - shown):
            other = f"Library{name}" if name[0].isupper() else f"library_{name}"
            yield (
                f"cell {cell.id} defines {name}, a name of the library; call it my_{name}, or import the library's as "
                f"{other} and show with assert_close that both give the same."
            )


def paths(notebook, exports):
    for cell in code(notebook):
        for text in output_texts(cell):
            if match := MACHINE_PATH.search(text):
                yield f"an output of cell {cell.id} shows a path of the machine it ran on ({match.group()}...)."
                break


def tags(notebook, exports):
    for cell in notebook.cells:
        for tag in set(cell.metadata.get("tags", [])) & set(BANNED_TAGS):
            yield f"cell {cell.id} has the tag {tag}, which {BANNED_TAGS[tag]}."


def quiz(notebook, exports):
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        blocks = re.split(r"<details\b", cell.source)[1:]
        if any(not re.match(r"[^>]*>\s*<summary>\s*(<code>)?[^<\s]", block) for block in blocks):
            yield f"cell {cell.id} has a <details> without a <summary> that says something."
        if len(blocks) != cell.source.count("</details>"):
            yield f"cell {cell.id} has a <details> that is not closed."
        if any('class="quiz"' in b and "**Right" not in b and "**Not" not in b for b in blocks):
            yield f"cell {cell.id} has a quiz option that does not say in words whether it is right or not."
        if any(CODE.search(re.sub(r"<code>.*?</code>", "", text)) for text in re.findall(SUMMARY, cell.source)):
            yield f"cell {cell.id} has code in the words of a quiz option; write <code>f(x)</code>."


def quiz_numbers(notebook, exports):
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    asked = [question_above(options) for text in texts for options in OPTIONS.finditer(text)]
    for number, question in enumerate(asked, start=1):
        if not question.startswith(f"**{number}. "):
            yield f"the question {question[:60]!r} is number {number} of its page; begin it with '**{number}. '."


def letters(notebook, exports):
    for cell in code(notebook):
        drawings = ["".join(output.get("data", {}).get("image/svg+xml", "")) for output in cell.outputs]
        smallest = min((100 * float(size) for text in drawings for size in LETTERS.findall(text)), default=MIN_POINTS)
        if smallest < MIN_POINTS:
            yield f"the figure of cell {cell.id} has letters of {smallest:g} points; give them {MIN_POINTS} or more."


def alt_text(notebook, exports):
    for cell in code(notebook):
        data = [name for output in cell.outputs for name in output.get("data", {})]
        if not any(name.startswith("image/") for name in data):
            continue
        mystnb = cell.metadata.get("mystnb", {})
        alt = mystnb.get("image", {}).get("alt", "")
        if len(alt.split()) < MIN_ALT_WORDS:
            yield f"cell {cell.id} shows a figure without alternative text (mystnb.image.alt)."
        if not mystnb.get("figure", {}).get("caption"):
            yield f"cell {cell.id} shows a figure without a caption (mystnb.figure.caption)."


def title(notebook, exports):
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not re.match(r"(\([\w-]+\)=\n)?# \S", first.source):
        yield "the first cell does not begin with a title (# ...)."
    headings = [c.id for c in notebook.cells[1:] if c.cell_type == "markdown" and re.search(r"^# ", c.source, re.M)]
    if headings:
        yield f"cells {headings} have a second title; use ## for sections."


def run_time(notebook, exports):
    seconds = notebook.metadata.get("run_seconds_at_most")
    if not isinstance(seconds, int) or seconds > MAX_SECONDS:
        yield f"its recorded run time is {seconds} s; run make notebooks (at most {MAX_SECONDS} s are allowed)."


RULES = {
    rule.__name__: rule
    for rule in (
        magic,
        semicolon,
        execution_counts,
        no_error,
        ids,
        length,
        redefined_names,
        paths,
        tags,
        quiz,
        quiz_numbers,
        letters,
        alt_text,
        title,
        run_time,
    )
}


def shown_equal(notebook: NotebookNode) -> set[str]:
    """Names of the library that are imported under another one and compared in a cell with assert_close."""
    found = set()
    parsed = [tree for cell in code(notebook) if (tree := parse(cell.source))]
    others = {
        alias.asname: alias.name
        for tree in parsed
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "clearformer"
        for alias in node.names
        if alias.asname
    }
    for tree in parsed:
        names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(tree)}
        if names & {"assert_close", "assert_allclose"}:
            found |= {others[name] for name in names & set(others)}
    return found


def parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def defined_names(source: str) -> set[str]:
    """Names that a cell binds at its top level: functions, classes, assignments, loop and with targets."""
    names: set[str] = set()
    for node in top_level(tree.body if (tree := parse(source)) else []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def top_level(body: list[ast.stmt]):
    """All nodes outside function and class bodies and outside comprehensions."""
    scopes = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, *scopes)):
            waiting.extend(ast.iter_child_nodes(node))


def output_texts(cell: NotebookNode):
    for output in cell.outputs:
        yield output.get("text", "")
        yield from (text for text in output.get("data", {}).values() if isinstance(text, str))
        yield "\n".join(output.get("traceback", []))

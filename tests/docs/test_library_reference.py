"""The library reference is what the source says, in the repository and on the site."""

import importlib
import inspect
import re

import pytest

from tests.docs.test_training_examples import HEADINGS, programs
from tools.pages import library_reference
from tools.pages.library_reference import END, MARK, Source, as_directives, first_sentence, list_module

TEXT = library_reference.PAGE.read_text(encoding="utf-8")
MODULES = [mark["module"] for mark in MARK.finditer(TEXT)]
SAMPLE = '''"""Small things, e.g. one of Vaswani et al. and :math:`x^2`. More of it."""
from dataclasses import dataclass, field

@shaped
def both(a, /, b: Float[Tensor,
    "B N"], c=3, *rest: int, d: str = "x", **options) -> tuple[int, ...]:
    """Both; see ``a``. Not this."""

def _own(): """Nobody's."""

def silent(): pass

@dataclass
class Sizes:
    """Sizes."""
    n: int
    names: list[str] = field(default_factory=list)
    @property
    def all(self) -> int: """All of them."""
    @classmethod
    def preset(cls, name: str): """Known ones."""
    @staticmethod
    def of(n): """Of n."""
    def _hidden(self): """Not this."""

class Layer(Module):
    """A layer."""
    def __init__(self, d: int, *, bias=True): ...
'''


def sample() -> Source:
    return Source("sample", SAMPLE, library_reference.ast.parse(SAMPLE))


def test_the_page_is_what_the_generator_writes():
    """Catches a list that was edited by hand, and a signature or a sentence that has changed since."""
    assert library_reference.page() == TEXT, "run make pages"


def test_signatures_are_shown_as_they_are_written():
    """Catches a kind of argument that is lost, quotation marks that change, and what is private or says nothing."""
    assert sample().entries(None) == [
        '- `both(a, /, b: Float[Tensor, "B N"], c=3, *rest: int, d: str = "x", **options) -> tuple[int, ...]`: '
        "Both; see `a`.",
        "- `Sizes(n: int, names: list[str] = ...)`: Sizes.",
        "  - `all -> int`: All of them.",
        "  - `preset(name: str)`: Known ones.",
        "  - `of(n)`: Of n.",
        "- `Layer(d: int, *, bias=True)`: A layer.",
    ]


def test_a_sentence_ends_at_its_own_full_stop():
    """Catches one that ends behind an abbreviation, and formulas that Markdown would not show."""
    assert first_sentence(sample().tree) == "Small things, e.g. one of Vaswani et al. and $x^2$."


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_of_a_module_is_listed(module):
    """Catches what a module offers, by Python's own account, and the page does not tell."""
    mark = next(mark for mark in MARK.finditer(TEXT) if mark["module"] == module)
    told = set(re.findall(r"^- `(\w+)", mark[0], re.M))
    if mark["members"] not in (None, library_reference.EVERY):
        assert told == set(mark["members"].split(", "))
    elif mark["members"]:
        found = vars(importlib.import_module(module)).items()
        own = {name: it for name, it in found if getattr(it, "__module__", "") == module and name[0] != "_"}
        assert told == {name for name, it in own.items() if is_documented(it)}


@pytest.mark.parametrize("package", ["", ".attention", ".models", ".pretrained"], ids=lambda name: f"clearformer{name}")
def test_every_name_that_a_package_offers_is_on_the_page(package):
    """Catches a new module whose heading nobody has written, without which its list is not written either."""
    offered = importlib.import_module(f"clearformer{package}")
    homes = {name: getattr(getattr(offered, name), "__module__", "clearformer") for name in offered.__all__}
    assert {name: home for name, home in homes.items() if home.startswith("clear") and home not in MODULES} == {}


def is_documented(it: object) -> bool:
    """Whether it is a function, cached or not, or a class, with a docstring of its own."""
    return (inspect.isclass(it) or inspect.isfunction(inspect.unwrap(it))) and bool(it.__doc__)


def test_what_is_gone_is_named():
    """Catches a page that goes on promising a module or a function that was renamed."""
    with pytest.raises(ValueError, match=r"no module clearformer\.gone"):
        list_module("clearformer.gone", None)
    with pytest.raises(ValueError, match="clearcheck has no Gone"):
        list_module("clearcheck", "Exercise, Gone")


def test_the_site_documents_each_module_where_the_page_lists_it():
    """Catches a module without its documentation on the site, and a list that is left beside it."""
    site = as_directives(TEXT)
    assert re.findall(r"^\.\. automodule:: (\S+)$", site, re.M) == MODULES and len(set(MODULES)) == len(MODULES)
    assert END not in site and not re.findall(r"^- `", site, re.M)
    names = re.findall(r"^   :members: (.+)$", site, re.M)
    assert "Exercise, Question, Inputs, axes, equals, holds, AnswerProblem" in names


@pytest.mark.slow
def test_the_programs_run_as_the_page_prints_them(capsys):
    """Catches a name or an argument that is no longer so in what a programmer types first, and in each example."""
    elsewhere = "".join(program for heading in HEADINGS for program in programs(heading))
    first, *examples = re.findall(r"^```python\n(.*?)```", TEXT, re.M | re.S)
    examples = [example for example in examples if example not in elsewhere]
    names: dict = {}
    exec(first, names)
    written = capsys.readouterr().out
    assert written.startswith("tensor([[") and len(re.findall(r"\d+", written)) == names["prompt"].shape[1] + 5
    for example in examples:
        assert len(re.findall(r"^(?!from|import|$)", example, re.M)) <= 5  # a few lines, imports apart
        exec(example, names)
    written = capsys.readouterr().out
    assert re.search(r"^\d{5}$", written, re.M) and "torch.Size([1, 203])" in written

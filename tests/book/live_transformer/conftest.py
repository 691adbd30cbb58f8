"""The models that the live transformer can load, and a page that holds it, opened as a file."""

import re
from types import SimpleNamespace

import pytest
import torch
from clearformer.tokenizers import BytePairTokenizer, CharTokenizer

from tests.book.live import random_gpt, save, write_page
from tests.book.live_transformer.element import BORDERS, SHIPPED, ZEN, open_page
from tests.book.pages import ROOT
from tools.extension.live_weights import load_live_model


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, SimpleNamespace]:
    """By name: the model as a page computes it and as it was saved, its tokenizer and its folder. Sizes differ."""
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("models")
    characters, pairs = CharTokenizer(ZEN + "é😀"), BytePairTokenizer(ZEN, 150)
    crossing = BytePairTokenizer(BORDERS * 3, 120, pattern=re.compile("(?s).+"))  # would merge across every border
    crossing.pattern = pairs.pattern
    found = {}
    for name, tokenizer, sizes, dtype in (
        ("characters", characters, (40, 30, 5, 3), torch.bfloat16),
        ("pairs", pairs, (64, 24, 2, 2), torch.float16),
        ("bare", BytePairTokenizer(ZEN, 0), (32, 12, 3, 1), torch.float32),
        ("crossing", crossing, (16, 8, 1, 1), torch.float16),
    ):
        exact = random_gpt(tokenizer, *sizes, dtype)
        save(folder / name, exact, tokenizer, dtype)
        found[name] = SimpleNamespace(tokenizer=tokenizer, exact=exact)
    for name in SHIPPED:
        (folder / name).symlink_to(ROOT / "models" / name)
        found[name] = SimpleNamespace(tokenizer=load_live_model(folder / name)[1])
    for name, own in found.items():
        own.model, own.folder = load_live_model(folder / name)[0], folder / name
    return found


@pytest.fixture(scope="module")
def window(browser):
    """For every visit that asks for no other."""
    page = open_page(browser)
    yield page
    page.close()


@pytest.fixture
def visit(browser, window, models, tmp_path_factory):
    """Open a page with the element, as a file; page.complaints and page.asked are what it says and what it fetches."""
    contexts = []

    def visit_it(name="pairs", start=True, prompt="", before="", tasks=None, **options):
        page = window
        if before or options:
            contexts.append(browser.new_context(**options))
            page = open_page(contexts[-1])
            page.add_init_script(before)
        page.emulate_media(media="screen")
        page.complaints.clear()
        page.asked.clear()
        path = write_page(tmp_path_factory.mktemp("site"), models[name].folder.parent, name, prompt, tasks)
        page.site = path.parent
        page.goto(path.as_uri())
        page.evaluate("sessionStorage.clear()")  # else the text of the page before would be there again
        if start:
            page.get_by_role("button", name="Start the model").click()
            page.get_by_role("button", name="Write on").wait_for()
        return page

    yield visit_it
    for context in contexts:
        context.close()

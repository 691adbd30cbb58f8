"""What models of today are built of: each fact with its source, numbers that agree, and the tables of the chapters."""

import copy
import re
from datetime import date
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from clearbook.today import today
from clearbook.today.cells import COLUMNS, count_in_words, date_in_words
from clearbook.today.rows import Model, gallery, read_gallery
from clearbook.today.schema import FACTS, check

from tests.clearbook.small_gallery import SMALL, changed

ROOT = Path(__file__).parents[2]
HELD = gallery()
FIRST, LAST = date(2024, 1, 1), HELD.as_of
OF_BEFORE = {"GPT-2 1.6B"}  # a yardstick of recipes of today


def test_the_file_is_as_large_as_the_course_promises():
    """Catches models that were lost, years that are not covered, and a family that is missing."""
    years = [(model.get("released") or "")[:4] for model in HELD.models.values()]
    assert len(HELD.models) >= 18
    assert min(years.count(year) for year in ("2024", "2025", "2026")) >= 5
    assert {model.kind for model in HELD.models.values()} == {"decoder", "encoder", "encoder-decoder", "vision"}


def test_each_fact_has_a_source_that_was_seen():
    """Catches a fact without source, an address that is none, and a day of reading that lies ahead."""
    for model in HELD.models.values():
        assert model.facts, model.name
        for name, fact in model.facts.items():
            assert name in FACTS and fact.source.url.startswith("https://"), (model.name, name)
            assert FIRST <= fact.source.seen <= LAST, (model.name, name)


def test_each_source_says_something():
    """Catches a source that no fact uses any more."""
    used = {fact.source.key for model in HELD.models.values() for fact in model.facts.values()}
    assert used == {*HELD.sources}


def test_citations_stand_in_the_bibliography():
    """Catches the key of a report that the bibliography does not have."""
    keys = {*re.findall(r"^@\w+\{(\w+),", (ROOT / "chapters" / "references.bib").read_text(encoding="utf-8"), re.M)}
    assert {source.cite for source in HELD.sources.values() if source.cite} <= keys


def test_releases_lie_between_2024_and_the_day_of_the_file():
    """Catches a day that has not come yet, and a model that is not of today."""
    assert {*HELD.models} >= OF_BEFORE
    for model in HELD.models.values():
        told = model.get("released")
        if model.name in OF_BEFORE:
            continue
        assert told and FIRST.isoformat()[: len(told)] <= told <= LAST.isoformat()[: len(told)], model.name


@pytest.mark.parametrize(
    ("source", "fact", "value", "told"),
    [
        ("code", "layers", 0, "layers is 0, expected a whole number from 1 on"),
        ("code", "layers", True, "layers is True, expected a whole number"),
        ("code", "tied", "no", "tied is 'no', expected true or false"),
        ("code", "qk_norm", False, "qk_norm is False, expected true, or nothing"),
        ("code", "rotated", 1.5, "rotated is 1.5, expected a share"),
        ("code", "positions", " ", "positions is ' ', expected a few words"),
        ("code", "norm", "BatchNorm", "expected one of RMSNorm, LayerNorm"),
        ("code", "colour", "red", "there is no fact 'colour'. Choose one of released, parameters"),
        ("code", "parameters", "2 B", "parameters stands under report and under code. Leave one"),
        ("code", "active", "7B", "active is '7B', expected a number such as 135 M"),
        ("code", "active", "2 B", r"more weights at work \(2 B\) than there are \(1 B\)"),
        ("report", "released", "2025-02-30", "released is '2025-02-30', expected a day, a month or a year"),
        ("report", "released", 2025, "released is 2025, expected a day"),
        ("code", "mix", {"full": 5, "window": 5}, "does not add up to 4 layers; layers without what they are"),
        ("code", "mix", {"left": 4}, "mix is {'left': 4}, expected numbers from 1 on for some of full"),
        ("code", "latent", {"query": 3}, "expected numbers from 1 on for key_value, unrotated, rotated, value"),
        ("code", "experts", {"routed": 4}, "expected numbers from 0 on for routed, active, shared, d_ff, dense_layers"),
        (
            "code",
            "experts",
            {"routed": 4, "active": 5, "shared": 0, "d_ff": 1, "dense_layers": 0},
            "5 of 4 experts. Look at its sources again",
        ),
        ("code", "kv_heads", 3, "4 heads cannot share 3 keys evenly"),
        ("code", "kv_heads", 4, "attention is grouped with 4 heads and 4 keys"),
        ("code", "heads", 6, "width 8 does not divide among 6 heads, and no d_head is given"),
        ("gone", "layers", 4, "names a source 'gone' that is not listed"),
        (None, "kind", "diffusion", "expected name, organisation, kind and facts"),
        (None, "colour", "red", "Small 1 B has name, organisation, kind, facts, colour"),
    ],
)
def test_a_wrong_row_is_told(source, fact, value, told):
    """Catches a slip in the file that would reach a page."""
    with pytest.raises(ValueError, match=told):
        read_gallery(changed(source, fact, value))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"url": "http://a.example"}, "source report needs a few words and an address with https"),
        ({"seen": date(2027, 1, 1)}, "was seen 2027-01-01, expected a day up to 2026-11-29"),
        ({"seen": "today"}, "was seen today"),
        ({"page": 3}, "has what, url, seen, cite, page, expected"),
    ],
)
def test_a_wrong_source_is_told(change, told):
    """Catches an address that cannot be followed and a day on which nobody can have read it."""
    data = copy.deepcopy(SMALL)
    data["sources"]["report"] |= change
    with pytest.raises(ValueError, match=told):
        read_gallery(data)


def test_a_file_of_another_form_and_a_model_that_stands_twice_are_told():
    """Catches a key that is missing, and a second row that would hide the first."""
    with pytest.raises(ValueError, match="found as_of, sources, expected a day as_of, sources and models"):
        read_gallery({key: SMALL[key] for key in ("as_of", "sources")})
    with pytest.raises(ValueError, match="Small 1 B stands there twice"):
        read_gallery(SMALL | {"models": SMALL["models"] * 2})


def test_a_fact_that_nobody_knows_is_missed_in_words():
    """Catches a None that travels on where a size was needed, and a fact that is misspelt."""
    model = read_gallery(SMALL).model("Small 1 B")
    assert model.get("window") is None
    with pytest.raises(ValueError, match=r"Small 1 B: chapters/models.yml has no window, rotated\."):
        model.need("layers", "window", "rotated")
    with pytest.raises(ValueError, match="there is no fact 'windows'"):
        model.get("windows")
    with pytest.raises(ValueError, match="there is no fact 'windows'"):
        check("windows", 3)


@pytest.mark.parametrize(
    ("stated", "words"), [("2025", "2025"), ("2025-04", "April 2025"), ("2025-04-05", "5 April 2025")]
)
def test_dates_in_words(stated, words):
    """Catches a day that is told where only the month is known."""
    assert date_in_words(stated) == words


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (448, "448"),
        (8192, "8,192"),
        (32768, "32 K"),
        (202752, "198 K"),
        (2**20, "1 M"),
        (10**7, "10 M"),
        (20001, "20,001"),
    ],
)
def test_lengths_in_words(length, words):
    """Catches 131,072 called 131 K, and a length rounded to a number that it is not."""
    assert count_in_words(length) == words


def words_of(name: str, column: str) -> str | None:
    """What a column says of a model of the file."""
    return COLUMNS[column].words_or_none(HELD.model(name))


@pytest.mark.parametrize(
    ("name", "column", "words"),
    [
        ("Gemma 3 27B", "mix", "52 with a window of 1,024, 10 full"),
        ("Kimi Linear 48B-A3B", "mix", "3 linear (gated delta rule, a gate per channel) for each 1 full"),
        ("GLM-5", "mix", "every layer on 2,048 selected tokens"),
        ("DeepSeek-V3", "heads", "latent, 128 heads, 512 + 64 numbers cached"),
        ("Gemma 4 31B", "heads", "grouped, 32 heads on 16 (4 without a window)"),
        ("DeepSeek-V3", "feed_forward", "SwiGLU, 8 of 256 experts + 1 for all, 2,048 units each"),
        (
            "Nemotron 3 Nano 30B-A3B",
            "feed_forward",
            "ReLU², 6 of 128 experts + 1 for all, 1,856 units each (3,712 in that for all)",
        ),
        ("SmolLM3 3B", "positions", "rotary, base 5,000,000, none in 9 of 36 layers"),
        ("DeepSeek-V3", "positions", "rotary, base 10,000, slowed up to 40 times, a third of each head turned"),
        ("gpt-oss-120b", "positions", "rotary, base 150,000, slowed up to 32 times"),
        ("Gemma 3 27B", "positions", "rotary, base 1,000,000 (10,000 in windows), all slowed 8 times"),
        ("OLMo 2 7B", "norm", "RMSNorm after each sublayer"),
        ("DeepSeek-V4-Flash", "residual", "4 mixed streams"),
        ("Muse Spark Open", "residual", "a weighted sum"),
        ("Qwen3 8B", "tokenizer", "byte-level BPE, digits one by one"),
        ("Llama 3.1 8B", "tokenizer", "byte-level BPE, up to 3 digits a token"),
        ("Whisper large-v3-turbo", "shape", "32 + 4 layers, width 1,280"),
        ("DINOv3 ViT-7B", "patches", "16 × 16 pixels, 4 registers"),
        ("gpt-oss-120b", "extras", "sinks"),
        (
            "gpt-oss-120b",
            "missing",
            "a head of its own, biases, slower angles, windows, sinks, experts, limits on the gate, "
            "a steeper gate, 1 added to what it multiplies",
        ),
        (
            "MiniMax-M2",
            "missing",
            "a head of its own, a QK-norm over all heads at once, heads turned in part, experts",
        ),
        (
            "Gemma 4 31B",
            "missing",
            "embeddings times √D, heads turned in part, windows, two rotary bases, other heads in some layers, "
            "keys that serve as values, another scale of the scores, GEGLU, norms before and after each sublayer, "
            "capped logits, a norm on values, a factor for each block",
        ),
        ("OLMo 2 7B", "missing", "a head of its own, a QK-norm over all heads at once, norms after each sublayer"),
        ("SmolLM2 135M", "missing", None),
        ("Llama 3.1 8B", "residual", None),
    ],
)
def test_cells(name, column, words):
    """Catches a fact that gets lost on its way into a cell."""
    assert words_of(name, column) == words


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_draws_a_table(column):
    """Catches a column that fails on one of the models, or shows None."""
    table = today(column)
    assert table.models and all("None" not in word and word.strip() for row in table.rows for word in row)


def test_a_table_is_as_of_the_last_day_on_which_its_own_sources_were_read():
    """Catches the day of the whole file on a table whose sources are older."""
    small = read_gallery(SMALL)
    assert today("context", models=["Small 1 B"], held=small).as_of == "1 November 2026"
    assert today("context", "shape", models=["Small 1 B"], held=small).as_of == "2 November 2026"


def test_a_table_is_one_for_every_reader():
    """Catches a table without header cells, whose cells lose their headings on a narrow screen, or that has no date."""
    table = today("positions", "context", models=["Qwen3 8B", "Llama 3.1 8B"])
    page = table._repr_html_()
    soup = BeautifulSoup(page, "html.parser")
    assert [th.text for th in soup.select('thead th[scope="col"]')] == ["model", "positions", "context", "sources"]
    assert [th.text for th in soup.select('tbody th[scope="row"]')] == ["Llama 3.1 8B", "Qwen3 8B"]  # by date
    assert [td["data-label"] for td in soup.select("tbody tr")[0].select("td")] == ["positions", "context", "sources"]
    assert soup.caption.text.startswith("As of 29 November 2026.") and "\n" not in page
    listed = [li.a["href"] for li in soup.select("details li")]
    linked = {a["href"] for a in soup.select("tbody a")}
    assert linked == {*listed} and len(listed) == len(linked) and all("seen 20" in li.text for li in soup.select("li"))
    assert all(a["aria-label"].startswith(f"source {a.text}: ") for a in soup.select("tbody a"))
    for row in soup.select("tbody tr"):
        numbers = [int(a.text) for a in row.select("a")]
        assert numbers == sorted(numbers) and [listed.index(a["href"]) + 1 for a in row.select("a")] == numbers
    assert ("A dash stands" in soup.caption.text) == any(cell.text == "—" for cell in soup.select("td"))
    assert repr(table).splitlines()[1].split(" | ") == [
        "Llama 3.1 8B",
        "rotary, base 500,000, slowed up to 8 times",
        "128 K",
    ]


def test_sources_are_those_of_what_is_shown():
    """Catches a row that cites sources of facts which the table does not show."""
    table = today("context", models=["Small 1 B"], held=read_gallery(SMALL))
    assert [source.key for source in table.sources] == ["report"]


def test_names_cannot_break_the_page():
    """Catches a quotation mark or a bracket in the name of a source that ends its attribute."""
    soup = BeautifulSoup(today("shape", models=["Small 1 B"], held=read_gallery(SMALL))._repr_html_(), "html.parser")
    link = soup.select_one("tbody a")
    assert (
        link["title"] == 'code of <"A">'
        and link["href"].endswith("?x=1&y=2")
        and soup.find("a", string='code of <"A">')
    )


@pytest.mark.parametrize(
    ("columns", "models", "told"),
    [
        ([], None, "no column is named. Choose some of released"),
        (["colour"], None, "there is no colour. Choose some of"),
        (["context"], ["GPT-9"], "has no 'GPT-9'. Choose one of"),
        (["context"], ["Qwen3 8B", "Qwen3 8B"], "a model is named twice"),
        (["residual"], ["Qwen3 8B"], "residual is known of none of these models"),
    ],
)
def test_a_table_that_cannot_be_is_told(columns, models, told):
    """Catches a call that would leave an empty table on a page."""
    with pytest.raises(ValueError, match=told):
        today(*columns, models=models)


def test_a_model_without_a_date_comes_last():
    """Catches an order that fails where nobody knows when a model was released."""
    data = copy.deepcopy(SMALL)
    second = copy.deepcopy(data["models"][0]) | {"name": "Undated"}
    del second["facts"]["report"]["released"]
    data["models"].insert(0, second)
    assert [model.name for model in today("context", held=read_gallery(data)).models] == ["Small 1 B", "Undated"]


def test_rows_cannot_be_changed():
    """Catches a chapter that edits a fact for all who come after it."""
    model: Model = HELD.model("Qwen3 8B")
    with pytest.raises(AttributeError):
        model.name = "another"


def test_a_page_adds_rows_of_what_it_trained():
    """Catches a row of the page's own that is lost, has words in a wrong column, or a source that is none."""
    own = {"my model": {"parameters": "298 K"}}
    table = today("parameters", "context", models=["SmolLM2 135M"], own=own)
    assert repr(table).splitlines()[1].split(" | ") == ["my model    ", "298 K     ", "—"]
    row = BeautifulSoup(table._repr_html_(), "html.parser").find("tbody").find("tr")
    assert [cell.text for cell in row.find_all("td")] == ["298 K", "—", "this page"]
    with pytest.raises(ValueError, match="my model has words for parameters, expected some of context"):
        today("context", models=["SmolLM2 135M"], own=own)

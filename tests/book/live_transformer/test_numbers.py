"""Numbers of the live transformer against the library's: ids, logits, attention, the cache, what may be drawn."""

from itertools import pairwise

import pytest
import torch
from clearbook.attention_maps import attention_weights
from clearformer.generation import keep_top_k
from clearformer.tokenizers import CharTokenizer

from tests.book.live_transformer.element import (
    BORDERS,
    SHIPPED,
    SPACES,
    ZEN,
    drawn_from,
    logits,
    state,
    with_element,
    with_start,
)

TEXTS = [
    "",
    " ",
    "\n\n\n",
    "a",
    ZEN[:200],
    "  two spaces,\ttab\r\nline   ",
    BORDERS,
    SPACES,
    SPACES[::-1],
    "naïve café Größe Ωμέγα",
    "e\u0301 combined, \u200b\ufeff\u180e no spaces",
    "👩‍👩‍👧‍👦 🏳️‍🌈 😀😀",
    "漢字かな交じり文",
    "\x00\x01\x1b[0m\x7f\x9f",
    "٣ ½ Ⅷ ₂ 𝔘𝔫𝔦",
    "\ufffd \U0010ffff",
    "a" * 3000,
    "the better " * 300,
    "😀" * 800,
    "don't; won't -- \"quoted\"",
]
PROMPTS = [ZEN[i * 15 : i * 15 + (i * 7) % 90] for i in range(47)] + [ZEN, ZEN[:600], ""]
CUTS = [(0.0, None, None), (1.0, None, None), (0.5, 5, None), (0.7, None, 0.6), (1.3, 40, 0.9), (2.0, 3, 0.05)]


@pytest.mark.parametrize("name", ["characters", "pairs", "bare", *SHIPPED])
def test_logits_equal_the_librarys(visit, models, name):
    """Catches any slip in reading weights or in the forward pass, and a cache that keeps what an edit has changed."""
    own, page = models[name], visit(name)
    body = """const read = [];
        for (const text of a) {
            await e.writer.write(text);
            const { ids, dropped, logits } = e.state();
            read.push({ ids, dropped, logits });
        }
        return read;"""
    for prompt, read in zip(PROMPTS, with_element(page, body, PROMPTS), strict=True):
        ids = with_start(own, prompt)
        assert read["ids"] == ids[read["dropped"] :]
        torch.testing.assert_close(torch.tensor(read["logits"]), logits(own, read["ids"]), atol=1e-3, rtol=0)


@pytest.mark.parametrize("name", ["characters", "pairs", "bare"])
def test_what_is_left_out_is_the_least_and_is_told(visit, models, name):
    """Catches a text that is refused or cut without a word, or of which more is left out than makes room."""
    own, page = models[name], visit(name)
    room = own.model.config.n_positions
    for length in (room - 1, room, room + 1, 3 * room):
        with_element(page, "await e.writer.write(a)", "N" * (length - 1))  # no pair of two N
        found = state(page)
        assert len(found["ids"]) + found["dropped"] == length and len(found["ids"]) <= room
        assert len(found["ids"]) > room * 3 / 4 - 1 or not found["dropped"]
        assert (f"the first {found['dropped']} are left out" in found["note"]) == (length > room)


@pytest.mark.parametrize("name", ["characters", "pairs", "bare", "crossing", *SHIPPED])
def test_the_ids_are_the_tokenizers_own(visit, models, name):
    """Catches another idea of a space, of a character or of the order of merges than Python has."""
    own, page = models[name], visit(name)
    texts = TEXTS + PROMPTS
    found = with_element(page, "return a.map((text) => e.writer.model.encode(text))", texts)
    assert [encoded["ids"] for encoded in found] == [with_start(own, text) for text in texts]
    for text, encoded in zip(texts, found, strict=True):
        left_out = set(text) - set(own.tokenizer.characters) if isinstance(own.tokenizer, CharTokenizer) else set()
        assert set(encoded["unknown"]) == left_out
    ids = [encoded["ids"][1:] for encoded in found]
    assert with_element(page, "return a.map((ids) => e.writer.model.decode(ids))", ids) == [
        own.tokenizer.decode(i) for i in ids
    ]


def test_broken_characters_are_read_as_python_reads_them(visit, models):
    """Catches bytes that are decoded to more or fewer replacement characters than Python makes of them."""
    own, page = models["bare"], visit("bare")
    broken = [
        [0xE2],
        [0xE2, 0x82],
        [0xF0, 0x9F, 0x98],
        [0xFF, 65],
        [0xE2, 0x28, 0xA1],
        [0xEF, 0xBB, 0xBF, 65],
        [0xC0, 0x80],
    ]
    found = with_element(page, "return a.map((ids) => e.writer.model.decode(ids))", broken)
    assert found == [own.tokenizer.decode(ids) for ids in broken]
    half = with_element(page, r"return e.writer.model.encode('a\ud800 \udc00b').ids")
    assert half == with_start(own, "a\ufffd \ufffdb")


@pytest.mark.parametrize("name", ["characters", "pairs"])
def test_cached_equals_uncached(visit, name):
    """Catches keys and values that stay when the text before them is edited, taken back, or left out."""
    page = visit(name)
    body = """const room = e.writer.model.config.n_positions, read = [];
        const compare = () => {
            const { ids, logits, attention } = e.state(), fresh = new ClearformerLive.Reading(e.writer.model);
            ids.forEach((id) => fresh.read(id));
            const own = Array.from(fresh.logits(ids.length - 1)), n = ids.length - 1;
            const looks = Array.from(fresh.attention[n][0].subarray(0, n + 1));
            const same = own.join() === logits.join() && looks.join() === attention[0][0][n].join()
                && ids.join() === e.writer.ids.slice(e.writer.dropped).join();
            read.push({ length: ids.length, same });
        };
        for (const text of ["Beautiful is", "Beautiful was", "Beauty", "ugly Beauty", ""]) {
            await e.writer.write(text);
            compare();
        }
        for (let i = 0; i < 2 * room; i++) { await e.writer.step(); if (i % 9 === 0) compare(); }
        for (let i = 0; i < 5; i++) { await e.writer.takeBack(); compare(); }
        e.shadowRoot.getElementById("cache").click();
        const reads = [], length = e.writer.reading.length, whole = e.writer.reading.read;
        e.writer.reading.read = (id) => { reads.push(id); whole.call(e.writer.reading, id); };
        await e.writer.step();
        compare();
        if (reads.length <= length) throw new Error("the cache was used though it is off");
        return read;"""
    read = with_element(page, body)
    assert all(row["same"] for row in read), read
    assert any(after["length"] < before["length"] for before, after in pairwise(read[5:-5])), "nothing was left out"


@pytest.mark.parametrize("name", ["characters", "pairs"])
def test_attention_and_embedding_equal_the_librarys(visit, models, name):
    """Catches heads or layers in another order, weights of sources as targets, or a row that is not the token's own."""
    own, page = models[name], visit(name)
    with_element(page, "await e.writer.write(a)", ZEN[4:30])
    found = state(page)
    expected = list(attention_weights(own.model, torch.tensor([found["ids"]])).values())
    for layer, heads in zip(found["attention"], expected, strict=True):
        for head, weights in zip(layer, heads[0], strict=True):
            for n, row in enumerate(head):
                torch.testing.assert_close(
                    torch.tensor(row, dtype=torch.float32), weights[n, : n + 1], atol=1e-4, rtol=0
                )
    row = own.model.tokens.weight[found["ids"][-1]].detach()
    torch.testing.assert_close(torch.tensor(found["embedding"]), row, atol=1e-6, rtol=0)


@pytest.mark.parametrize("cut", CUTS)
def test_what_may_be_drawn_is_what_generate_draws_from(visit, cut):
    """Catches cuts in another order, a tie that is broken, a scale that is forgotten."""
    scores = torch.randn(30, 57, dtype=torch.float64) * 3
    scores[0, 5:9] = scores[0].max()  # equally likely
    options = dict(zip(("temperature", "topK", "topP"), cut, strict=True))
    body = "return a[0].map((logits) => Array.from(ClearformerLive.distribution(logits, a[1]).after))"
    found = with_element(visit(start=False), body, [scores.tolist(), options])
    rows = range(1, 30) if cut[2] or cut[0] == 0 else range(30)  # torch may keep any of those that are equal
    for row in rows:
        expected = drawn_from(scores[row : row + 1], *cut)[0]
        torch.testing.assert_close(torch.tensor(found[row], dtype=torch.float64), expected, atol=1e-9, rtol=0)


def test_a_token_is_drawn_by_its_probability(visit):
    """Catches a draw that is off by one token, or takes what was cut."""
    numbers = [0, 0.3, 0.6, 0.66, 0.7, 0.9, 0.91, 0.999999]
    body = """const d = ClearformerLive.distribution([0, 2, 1, -1], { temperature: 1, topK: 3, topP: null });
        return a.map((number) => ClearformerLive.draw(d, () => number))"""
    p = keep_top_k(torch.tensor([[0.0, 2, 1, -1]]), 3).softmax(-1)[0]
    edges = {1: p[1], 2: p[1] + p[2], 0: 1.0}  # from the likeliest on
    expected = [next(i for i, edge in edges.items() if number < edge) for number in numbers]
    assert with_element(visit(start=False), body, numbers) == expected and {*expected} == {0, 1, 2}

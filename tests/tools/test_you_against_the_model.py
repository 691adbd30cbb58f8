"""The arithmetic of You against the model, in Node, beside the library's trigram, model and tokenizer."""

import json
import shutil
import subprocess

import numpy as np
import pytest
import torch

from tests.lazy_module import LazyModule
from tools import ROOT

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
wagers = LazyModule("tests.book.play.wagers")
maker = LazyModule("tools.play.you_against_the_model.pages")
duel = LazyModule("tools.play.you_against_the_model")

SETUP = """
const [top, stored] = process.argv.slice(1), fs = require("fs");
const at = (file) => require(`${top}/${file}`);
const live = at("live/tokenizer.js");
const duel = {};
for (const file of ["trigram", "bets", "memory", "words"]) {
    const made = { exports: duel };  // in a page all share one object
    new Function("module", fs.readFileSync(`${top}/play/you-against-the-model/${file}.js`, "utf8"))(made);
}
const data = JSON.parse(fs.readFileSync(stored, "utf8"));
const trigram = new duel.Trigram(data.counts);
const p = (page, i) => trigram.distribution(data.pages[page].given.concat(data.pages[page].guessed.slice(0, i)));
const plain = (_, it) => ArrayBuffer.isView(it) ? Array.from(it) : it === Infinity ? "∞" : it;
const spelled = (x) => JSON.stringify(x, plain);
"""


@pytest.fixture(scope="module")
def data_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("duel") / "data.json"
    path.write_text(json.dumps(duel.data()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(data_file):
    def run_it(body: str):
        script = f"{SETUP}\nconsole.log(spelled((() => {{ {body} }})()));"
        done = subprocess.run(
            ["node", "-e", script, str(ROOT / "tools" / "site"), str(data_file)],
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run_it


BETS = [  # of the first page, third token: what lies there, by place on offer
    {},
    {"chips": [3, 2]},
    {"chips": [0, 5, 0, 1], "other": 4},
    {"chips": [10]},
    {"chips": [1, 1, 1, 1, 1, 1], "other": 1, "typed": [1000, 1001], "on_typed": 3},
    {"chips": [2, 0, 0, 0, 0, 5], "other": 3, "allIn": True},
    {"other": 10},
]


def as_bet(it: dict, offers: list[int]) -> dict:
    chips = {str(token): n for token, n in zip(offers, it.get("chips", []), strict=False) if n}
    if "on_typed" in it:
        chips["1000"] = it["on_typed"]
    return {"chips": chips, "typed": it.get("typed", []), "other": it.get("other", 0), "allIn": it.get("allIn", False)}


def test_stored_pages_are_what_the_library_computes():
    """Catches pages.json of another model, text or table."""
    stored, made = json.loads(duel.STORED.read_text(encoding="utf-8")), maker.make()
    for old, new in zip(stored["pages"], made["pages"], strict=True):
        assert {k: old[k] for k in ("title", "heading", "given", "guessed")} == {
            k: new[k] for k in ("title", "heading", "given", "guessed")
        }
        assert [set(six) for six in old["offers"]] == [set(six) for six in new["offers"]]
        assert old["bits"] == pytest.approx(new["bits"], abs=1e-4)
        p_old, p_new = (np.array(it["likeliest"])[..., 1] for it in (old, new))
        np.testing.assert_allclose(p_old, p_new, atol=1e-4)
    assert (stored["n_vocab"], stored["counts"]) == (made["n_vocab"], made["counts"])


def test_pages_were_held_out():
    """Catches a page that stands in the text that the model learned from."""
    from clearbook.data.austen import austen_split

    learned, held_out = ("".join(part) for part in austen_split())
    _, tokenizer = wagers.model_and_tokenizer()
    for page in duel.data()["pages"]:
        assert page["given"][0] == tokenizer.n_vocab
        text = tokenizer.decode(page["given"][1:] + page["guessed"])
        assert text in held_out and text[30:] not in learned


def test_the_trigram_in_the_page_is_the_library_s(run):
    """Catches a count that is missing, and another smoothing, at any token of any page."""
    for page in range(3):
        found = run(f"return data.pages[{page}].guessed.map((_, i) => p({page}, i))")
        np.testing.assert_allclose(found, wagers.counted(page), rtol=1e-9)
    for page, it in enumerate(duel.data()["pages"]):
        own = -np.log2(wagers.counted(page)[np.arange(40), it["guessed"]])
        ids = it["given"] + it["guessed"]
        np.testing.assert_allclose(own, wagers.trigram().surprisal(ids)[len(it["given"]) - 1 :])


@pytest.mark.parametrize("it", BETS, ids=json.dumps)
def test_a_bet_is_a_distribution_over_all_tokens(run, it):
    """Catches chips that get lost or count twice, a floor that is not there, and a zero that is none."""
    offers = duel.data()["pages"][0]["offers"][2]
    bet = as_bet(it, offers)
    body = f"""const q = p(0, 2), parts = duel.parts({json.dumps(bet)}, data.pages[0].offers[2], q);
        return Array.from(q, (_, id) => duel.probability(parts, q, id));"""
    found = np.array(run(body))
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, wagers.distribution(bet, offers, wagers.counted(0)[2]), rtol=1e-9, atol=1e-15)
    if not it:
        np.testing.assert_allclose(found, wagers.counted(0)[2], rtol=1e-9)
    assert (found.min() > 0) == (not it.get("allIn"))


@pytest.mark.parametrize("temperature", [0.25, 0.5, 1, 2, 8])
def test_temperature_is_that_of_a_softmax(run, temperature):
    """Catches a power the wrong way round, and parts that no longer sum to 1."""
    offers, it = duel.data()["pages"][0]["offers"][2], BETS[2]
    bet = as_bet(it, offers)
    body = f"""const q = p(0, 2), parts = duel.parts({json.dumps(bet)}, data.pages[0].offers[2], q);
        return Array.from(q, (_, id) => duel.probability(duel.temper(parts, {temperature}), q, id));"""
    own = wagers.distribution(bet, offers, wagers.counted(0)[2])
    np.testing.assert_allclose(run(body), wagers.tempered(own, sorted(offers), temperature), rtol=1e-9, atol=1e-15)


def test_best_temperature_flattens_who_was_too_sure(run):
    """Catches a search that misses the least, one that sharpens a player who was wrong, and one that mends a zero."""
    body = """const { guessed, offers } = data.pages[0];
        const turns = guessed.map((came, i) => ({ came, offers: offers[i], p: p(0, i) }));
        const bet = (chips, allIn = false) => ({ chips, typed: [], other: 0, allIn });
        const wrong = turns.map(({ offers, came }) => bet({ [offers.find((id) => id !== came)]: 10 }));
        const right = turns.map(({ offers, came }) => bet(offers.includes(came) ? { [came]: 5 } : {}));
        const zero = wrong.map((it) => ({ ...it, allIn: true }));
        return [wrong, right, zero].map((bets) => duel.temperatures(bets, turns)).concat([duel.TEMPERATURES]);"""
    wrong, right, zero, temperatures = run(body)
    assert wrong["best"] > 1 > right["best"] and zero["best"] is None
    for found in (wrong, right):
        assert temperatures[int(np.argmin(found["all"]))] == found["best"]
    assert set(zero["all"]) == {"∞"} and 1 in temperatures


def test_calibration_counts_piles_and_what_came(run):
    """Catches something else that counts as a token, piles of another group, and a typed token that is forgotten."""
    body = """const turn = (came) => ({ came, offers: [1, 2, 3, 4, 5, 6], p: null });
        const bets = [
            { chips: { 1: 7, 2: 2 }, typed: [], other: 1 }, { chips: { 1: 7 }, typed: [], other: 3 },
            { chips: { 9: 8 }, typed: [9], other: 2 }, { chips: {}, typed: [], other: 0 },
        ];
        return duel.calibration(bets, [turn(1), turn(7), turn(9), turn(1)]);"""
    rows = {row["low"]: (row["piles"], row["came"], row["said"]) for row in run(body)}
    expected = {1: (3, 0, 0.5), 3: (1, 1, 0.3), 5: (0, 0, 0), 7: (3, 2, 2.2), 9: (0, 0, 0)}
    assert rows == {low: pytest.approx(row) for low, row in expected.items()}


@pytest.mark.parametrize(
    ("typed", "new_word"),
    [("she", True), ("she", False), (" Wentworth ", True), (",", False), ("é", True), ("--", False)],
)
def test_what_is_typed_is_cut_as_the_tokenizer_cuts_it(run, typed, new_word):
    """Catches a token that the text would never begin with."""
    text = json.dumps(typed)
    found = run(f"return duel.firstToken(new live.BytePairs(data.merges), {text}, {str(new_word).lower()})")
    _, tokenizer = wagers.model_and_tokenizer()
    assert found == tokenizer.encode((" " if new_word else "") + typed.strip())[0]


def test_rates_are_cross_entropy_and_perplexity(run):
    """Catches natural logarithms, and characters in the place of tokens."""
    bits = wagers.read(0)
    found = run(f"return duel.rates(data.pages[0].bits, {wagers.characters(duel.data()['pages'][0]['guessed'])})")
    assert found["token"] == pytest.approx(bits.mean(), abs=1e-5)
    assert found["perplexity"] == pytest.approx(np.exp(bits.mean() * np.log(2)), rel=1e-4)
    model, _ = wagers.model_and_tokenizer()
    it = duel.data()["pages"][0]
    ids = torch.tensor(it["given"] + it["guessed"])
    with torch.no_grad():
        loss = torch.nn.functional.cross_entropy(
            model(ids[None])[0, len(it["given"]) - 1 : -1], ids[len(it["given"]) :]
        )
    assert found["token"] == pytest.approx(loss.item() / np.log(2), abs=1e-4)

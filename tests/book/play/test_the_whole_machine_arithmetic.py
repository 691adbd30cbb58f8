"""The whole machine in Node: every number beside the library, every slope beside autograd and a finite difference."""

import json
import shutil
import subprocess

import pytest
import torch

from tests.book.play.the_library_beside import INPUTS, Library
from tools import ROOT
from tools.models import machine
from tools.play.the_whole_machine import data

SOURCES = ROOT / "tools" / "site" / "play" / "the-whole-machine"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
SETUP = """
for (const name of ["kinds", "boxes", "run", "names", "sums", "guess"]) require(`${process.argv[1]}/${name}.js`);
const M = globalThis.machine, given = JSON.parse(process.argv[2]);
const weights = M.unpack(given.weights), words = given.words;
const flat = (numbers) => JSON.parse(JSON.stringify(numbers, (_, x) => (x === -Infinity ? "-inf" : x)));
console.log(JSON.stringify((() => { BODY })()));
"""


def in_node(body: str, **more):
    script = SETUP.replace("BODY", body)
    done = subprocess.run(
        ["node", "-e", script, str(SOURCES), json.dumps(data() | more)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def computed():
    body = """return given.inputs.map(([ids, next]) => {
        const m = { weights, ids, next }, run = M.run(m), measured = {}, tokens = {};
        for (const box of M.BOXES) M.eachOf(box, (address) => {
            measured[M.key(address)] = M.measure(m, address).slope;
            tokens[M.key(address)] = M.trace(run.wires, address).tokens;
        });
        return { values: flat(run.values), gradients: run.gradients, measured, tokens };
    });"""
    return in_node(body, inputs=INPUTS)


def tensor(numbers):
    return torch.tensor([[[float(x) for x in row] for row in head] for head in numbers], dtype=torch.float64)


@needs_node
@pytest.mark.parametrize("i", range(len(INPUTS)))
def test_values_and_slopes_are_the_librarys(computed, i):
    """Catches a product turned round, a mask after the softmax, a norm over tokens, and a slope that is off."""
    library = Library(*INPUTS[i])
    assert library.kept.keys() == computed[i]["values"].keys()
    for name, exact in library.kept.items():
        value, slope = (tensor(computed[i][what][name]) for what in ("values", "gradients"))
        torch.testing.assert_close(value, library.like_the_page(name, exact.detach()), rtol=0, atol=1e-9)
        torch.testing.assert_close(slope, library.like_the_page(name, exact.grad), rtol=0, atol=1e-9)


@needs_node
@pytest.mark.parametrize("i", range(len(INPUTS)))
def test_a_nudge_measures_what_the_way_back_computes(computed, i):
    assert len(computed[i]["measured"]) == 319
    for name, slope in computed[i]["measured"].items():
        box, *where = name.split("/")
        exact = tensor(computed[i]["gradients"][box])[tuple(map(int, where))]
        assert slope == pytest.approx(exact.item(), abs=1e-5), name


@needs_node
def test_a_number_lights_up_the_tokens_that_can_change_it(computed):
    """Catches a token that shines through the mask, and one that stays dark although the number depends on it."""
    library = Library(*INPUTS[0])
    embedded = library.kept["embed"]
    for name, tokens in computed[0]["tokens"].items():
        box, *where = name.split("/")
        number = library.like_the_page(box, library.kept[box])[tuple(map(int, where))]
        if box == "place" or number.isinf():
            assert tokens == [False] * 3
            continue
        (slope,) = torch.autograd.grad(number, embedded, retain_graph=True, allow_unused=True)
        changes = [False] * 3 if slope is None else (slope.abs().sum(1) > 0).tolist()
        assert changes == tokens or number == 1, name  # the first token's weight on itself is 1 whatever its score


@needs_node
def test_the_sums_that_are_written_out_are_right():
    """Catches a sign lost between two terms, and a factor that is not the one computed with."""
    written = in_node("""
        const run = M.run({ weights, ids: [0, 2, 4], next: 6 }), found = {};
        for (const box of M.BOXES) M.eachOf(box, (address) => {
            const forward = M.forwardSum(run, address, ["she", "reads", "her"]);
            found[M.key(address)] = [forward, M.backwardSum(run, address), box.kind];
        });
        return found;""")
    n_checked = 0
    for name, (forward, back, kind) in written.items():
        if kind in ("linear", "add", "average", "scores"):
            assert evaluated(forward.rsplit(" = ", 1)[0]) == pytest.approx(result(forward), abs=0.01), (name, forward)
            n_checked += 1
        if " = " in back and "slope" in back:
            terms, given = back.split(": ", 1)[1].rsplit(" = ", 1)
            assert evaluated(terms) == pytest.approx(evaluated(given), abs=0.01), (name, back)
            n_checked += 1
    assert n_checked > 250


def evaluated(text: str) -> float:
    return eval(text.replace("−", "-").replace("·", "*").replace("√2", "2**0.5"))


def result(text: str) -> float:
    return evaluated(text.rsplit(" = ", 1)[1])


@needs_node
@pytest.mark.parametrize(
    ("box", "typed", "told"),
    [
        ("x", "4 × 3", ""),
        ("x", "(4, 3)", ""),
        ("x", "4 by 3", ""),
        ("q", "K x N", ""),
        ("x", "3x4", "turned round"),
        ("q", "2 × 2 × 3", "one head"),
        ("hidden", "8", "two numbers"),
        ("logits", "8 × 8", "rows are right"),
        ("logits", "4 × 3", "columns are right"),
        ("scores", "4 × 4", "neither"),
        ("scores", "three", "two whole numbers"),
        ("scores", "", "two whole numbers"),
        ("loss", "1", ""),
        ("loss", "scalar", ""),
        ("loss", "8", "smaller"),
    ],
)
def test_a_shape_is_read_and_judged(box, typed, told):
    found = in_node("return M.judge(M.BY_NAME[given.box], given.typed)", box=box, typed=typed)
    assert told in found and bool(told) == bool(found)


def test_the_stored_model_has_learned_its_sentences():
    """Catches weights that are not those of the script: the losses come close to the entropy of the sentences."""
    losses = machine.loss(machine.stored(), machine.sentences())
    torch.testing.assert_close(losses, torch.tensor([0.6931, 0.5623, 0.5623]).double(), rtol=0, atol=3e-3)

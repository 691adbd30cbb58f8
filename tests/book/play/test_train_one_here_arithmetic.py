"""What *Train one here* computes, in Node.js, beside the library: the same losses, slopes and maps, step by step."""

import json
import shutil
import subprocess

import pytest
import torch

from tests.book.play import small_gpt
from tools import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")]

FOLDER = ROOT / "tools" / "site" / "play" / "train-one-here"
ARITHMETIC = ("draw.js", "layers.js", "attention.js", "model.js", "race.js")
BASE = {
    "positions": True,
    "mask": "before",
    "scaled": True,
    "residual": True,
    "norm": "pre",
    "blocks": 2,
    "hidden": 64,
    "rate": 0.008,
}
SWITCHES: list[dict] = [
    {},
    {"positions": False},
    {"mask": "after"},
    {"mask": "none"},
    {"scaled": False},
    {"residual": False},
    {"norm": "none"},
    {"norm": "post"},
    {"blocks": 1},
    {"hidden": 4},
    {"rate": 0.001},
    {"mask": "after", "norm": "post", "residual": False, "scaled": False, "positions": False, "blocks": 1},
]


def in_node(body: str, **given):
    """What the body returns, with the arithmetic as `small` and what is given under its names."""
    names = "\n".join(f"const {name} = {json.dumps(value)};" for name, value in given.items())
    required = "\n".join(f"require({json.dumps(str(FOLDER / file))});" for file in ARITHMETIC)
    script = f"""{required}
        const small = {{}};
        smallParts.forEach((part) => part(small));
        {names}
        console.log(JSON.stringify((() => {{ {body} }})()));"""
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def learned() -> list:
    """For each switch the losses of 50 steps, the first slopes and the first maps, in Node.js."""
    body = """return all.map((options) => {
        const race = new small.Race([options], 1), [learner] = race.learners;
        const model = new small.SmallGPT(options, 1), batch = small.rows(small.uniform(1001));
        model.learn(batch.flatMap((it) => it.ids.slice(0, -1)), batch.flatMap((it) => it.ids.slice(1)));
        const slopes = {};
        for (const [name, it] of Object.entries(model.named)) slopes[name] = Array.from(it.slopes);
        const first = race.chunk(0);
        const losses = Array.from({ length: 50 }, () => race.chunk(1).sides[0].loss);
        return { losses, slopes, probe: first.probe, maps: first.sides[0].maps.map((map) => Array.from(map)),
                 count: small.count(options) };
    });"""
    return in_node(body, all=[BASE | switch for switch in SWITCHES])


@pytest.mark.parametrize("which", range(len(SWITCHES)), ids=map(str, SWITCHES))
def test_losses_slopes_and_maps_are_those_of_the_library(learned, which):
    """Catches a slope that is missing or wrong, another start, other rows, another Adam, and a switch that does
    something else than it says.
    """
    options, found = BASE | SWITCHES[which], learned[which]
    expected = small_gpt.losses(options, 1, 50)
    for step in (1, 10, 50):
        assert found["losses"][step - 1] == pytest.approx(expected[step - 1], rel=1e-6)
    slopes = small_gpt.slopes(options, 1)
    assert found["slopes"].keys() == slopes.keys()
    for name, values in slopes.items():
        assert found["slopes"][name] == pytest.approx(values, rel=1e-9, abs=1e-12), name
    assert found["count"] == sum(map(len, slopes.values()))
    for mine, theirs in zip(found["maps"], small_gpt.maps(options, 1, found["probe"]), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-6)


def test_the_line_is_what_the_best_guesser_pays():
    """Catches a line drawn elsewhere: counted here over every way in which a row can go on."""
    lengths = range(small_gpt.SHORTEST, small_gpt.LONGEST + 1)
    surprise = 0.0
    for length in lengths:
        for t in range(1, small_gpt.TOKENS + 1):
            still = [other for other in lengths if other >= t]  # lengths that the letters so far allow
            if t == length:
                surprise -= torch.tensor(1 / len(still)).log().item()
            elif t < length:
                rest = sum(other > t for other in still) / len(still)
                surprise -= torch.tensor(rest / (small_gpt.LETTERS - t)).log().item()
    expected = surprise / len(lengths) / small_gpt.TOKENS
    assert in_node("return small.entropyLine();") == pytest.approx(expected, rel=1e-6)


def test_the_habits_of_a_map_are_means_along_two_diagonals():
    """Catches the wrong diagonal: of a row of 6 letters and the same again, the copy stands 5 back.

    That of the last letter stands at two places, and does not count.
    """
    map_ = torch.rand(12, 12, generator=torch.Generator().manual_seed(0)).double()
    found = in_node("return small.habits(map);", map=map_.flatten().tolist())
    assert found["before"] == pytest.approx(map_.diagonal(-1).mean().item())
    assert found["copy"] == pytest.approx(map_.diagonal(-5)[1:-1].mean().item())

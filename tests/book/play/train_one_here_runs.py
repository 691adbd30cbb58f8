"""What *Train one here* says of its races, from each of its three starts, run in Node.js and stored.

    python -m tests.book.play.train_one_here_runs

runs all again, in some minutes, and writes train_one_here.json.
"""

import json

from tests.book.play.test_train_one_here_arithmetic import BASE, in_node
from tools import ROOT

STORED = ROOT / "tests" / "book" / "play" / "train_one_here.json"
STEPS, LAST = 1000, 50
SEEDS = (1, 2, 3)
RUNS: dict[str, dict] = {
    "base": {},
    "one block": {"blocks": 1},
    "mask after": {"mask": "after"},
    "no mask": {"mask": "none"},
    "no positions": {"positions": False},
    "not scaled": {"scaled": False},
    "no residual": {"residual": False},
    "no norm": {"norm": "none"},
    "norm after": {"norm": "post"},
    "thin": {"hidden": 4},
    "thin, no norm": {"hidden": 4, "norm": "none"},
    "fast, norm first": {"rate": 0.02},
    "fast, no norm": {"rate": 0.02, "norm": "none"},
    "fast, norm after": {"rate": 0.02, "norm": "post"},
}
BODY = """
    const race = new small.Race(runs, seed);
    race.chunk(steps - last);
    return race.chunk(last).sides.map((side, i) => ({
        loss: side.loss, repeated: side.repeated, fresh: side.fresh, count: small.count(runs[i]),
        habits: side.maps.map(small.habits),
    }));"""


def stored() -> dict:
    return json.loads(STORED.read_text(encoding="utf-8"))


def main() -> None:
    runs = [BASE | run for run in RUNS.values()]
    found = {seed: in_node(BODY, runs=runs, seed=seed, steps=STEPS, last=LAST) for seed in SEEDS}
    by_name = {name: [found[seed][i] for seed in SEEDS] for i, name in enumerate(RUNS)}
    STORED.write_text(json.dumps(by_name, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

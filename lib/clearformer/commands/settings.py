"""What a run was started with, in ``training.json`` of its folder: the same command goes on with it."""

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from clearformer import checkpoint
from clearformer.checks import shorten
from clearformer.training import TrainConfig
from clearformer.weight_files import read_header, read_object, written_whole

NAME = "training.json"
WRITTEN = ("config.json", "model.safetensors", "tokenizer.json", "checkpoint.safetensors")
MAY_GROW = "steps"
SHORT_TEXT = 200_000  # characters


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned: the text by its checksum, the sizes, and the numbers of the loop."""

    text: str
    checksum: str
    start: str | None
    width: int | None
    layers: int | None
    heads: int | None
    context: int
    vocabulary: int | None
    batch: int
    accumulate: int
    rate: float
    steps: int
    warmup: int
    every: int
    precision: str
    seed: int

    def training(self) -> TrainConfig:
        """The numbers of the loop as ``train`` takes them."""
        return TrainConfig(
            n_steps=self.steps,
            batch_size=self.batch,
            grad_accum_steps=self.accumulate,
            learning_rate=self.rate,
            warmup_steps=self.warmup,
            min_lr_ratio=0.05,
            eval_every=self.every,
            save_every=self.every,
            autocast=self.precision != "float32",
            seed=self.seed,
        )


def settle(folder: Path, given: dict[str, Any], defaults: dict[str, Any]) -> Settings:
    """The settings of a run: what was typed, or else what the folder says, or the defaults.

    Raises: ValueError if the folder is of another run, or says what no run has; FileExistsError if it is no run's.
    """
    before = read(folder)
    typed = {name: value for name, value in given.items() if value is not None}
    if before is None:
        _refuse_other_files(folder)
        chosen = defaults | typed
        steps = chosen["steps"]
        return Settings(**chosen, warmup=min(100, steps // 10), every=max(1, min(500, steps // 20)))
    old = asdict(before)
    changed = checkpoint.changed_settings({name: old[name] for name in typed}, typed, MAY_GROW)
    if changed:
        changes = "; ".join(f"{_told(name)} was {_value(name, old)}, is {_value(name, typed)}" for name in changed)
        raise ValueError(
            f"train: {folder} holds another run: {changes}. Choose another folder with --out, or go on with that run "
            f"by leaving these options out (only --{MAY_GROW} may grow)."
        )
    return Settings(**(old | typed))


def _refuse_other_files(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"train: {folder} is a file, expected a folder for the model. Choose one with --out.")
    there = [name for name in WRITTEN if (folder / name).exists()]
    if there:
        raise FileExistsError(
            f"train: {folder} holds {', '.join(there)} but no {NAME}, so it is no run of train, and nothing in it is "
            "replaced. Choose another folder with --out; to begin with its weights, pass it to --from."
        )


def _told(name: str) -> str:
    return {"checksum": "the content of the text", "text": "the text"}.get(name, f"--{name.replace('start', 'from')}")


def _value(name: str, values: dict) -> str:
    return values[name][:8] if name == "checksum" else str(values[name])


def write(folder: Path, settings: Settings) -> None:
    """Put the settings beside the model, as JSON that ``read`` takes. Raises: OSError if the disk takes no more."""
    with written_whole("train", folder, NAME, what=NAME) as (path,):
        path.write_text(json.dumps(asdict(settings), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder: Path, caller: str = "train") -> Settings | None:
    """What ``write`` wrote, or None where there is nothing. Raises: ValueError for a file that is damaged."""
    path = folder / NAME
    if not path.is_file():
        return None
    mend = "Take an intact copy, or choose another folder with --out."
    values = read_object(caller, path, mend)
    kinds = {field.name: field.type for field in fields(Settings)}
    wrong = sorted(kinds.keys() ^ values.keys())
    wrong += [name for name, kind in kinds.items() if name in values and not _fits(values[name], kind)]
    if wrong:
        name = wrong[0]
        came = f"{name}={shorten(values[name])}" if name in values else f"no {name}"
        raise ValueError(f"{caller}: {path} has {came}, which is not what a run writes. {mend}")
    return Settings(**values)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is what its field says."""
    known = {
        int: (int,),
        float: (int, float),
        str: (str,),
        int | None: (int, type(None)),
        str | None: (str, type(None)),
    }
    return type(value) in known[kind] and not (isinstance(value, int | float) and value < 0)


def progress(folder: Path, caller: str = "train") -> tuple[int, float]:
    """How many steps a folder's checkpoint has, as far as its header tells, and the bits a character at the last."""
    try:
        facts = json.loads(read_header(caller, folder / checkpoint.NAME, checkpoint.MEND)["facts"])
        done, bits = max((int(step), float(value)) for step, value in facts["evaluations"].items())
        return done, bits
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0, math.nan  # what is wrong with it is told when it is loaded

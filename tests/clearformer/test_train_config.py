"""The numbers of a run: what each is unless given, and the last value on either side that is taken."""

import dataclasses
import inspect
import math

import numpy as np
import pytest
import torch
from clearformer.train_config import TrainConfig

TAKEN = [
    {"n_steps": 1},
    {"batch_size": 1},
    {"grad_accum_steps": 1},
    {"warmup_steps": 0},
    {"warmup_steps": 5},
    {"eval_every": 0},
    {"save_every": 0},
    {"seed": 0},
    {"learning_rate": 1e-300},
    {"max_grad_norm": 1e-300},
    {"max_grad_norm": math.inf},
    {"weight_decay": 0.0},
    {"min_lr_ratio": 0.0},
    {"min_lr_ratio": 1.0},
    {"betas": (0.0, 0.0)},
    {"shard_on": "cpu"},
    {"autocast": False},
]
REFUSED = [
    {"n_steps": 0},
    {"batch_size": 0},
    {"grad_accum_steps": 0},
    {"warmup_steps": -1},
    {"warmup_steps": 6},
    {"eval_every": -1},
    {"save_every": -1},
    {"seed": -1},
    {"learning_rate": 0.0},
    {"learning_rate": math.inf},
    {"max_grad_norm": 0.0},
    {"max_grad_norm": math.nan},
    {"weight_decay": -1e-9},
    {"weight_decay": math.inf},
    {"min_lr_ratio": -1e-9},
    {"min_lr_ratio": 1.001},
    {"betas": (1.0, 0.5)},
    {"betas": (0.5, 1.0)},
    {"betas": (-1e-9, 0.5)},
]
OF_ANOTHER_KIND = [
    {"autocast": 1},
    {"shard_on": 3},
    {"eval_every": 1.5},
    {"seed": "now"},
    {"max_grad_norm": None},
    {"weight_decay": "some"},
    {"min_lr_ratio": True},
    {"betas": (0.9,)},
    {"betas": "two"},
    {"betas": (0.9, "b")},
]


def unchecked_config(**changes):
    """A configuration without the checks of types that the tests add."""
    config = TrainConfig(5, 2)
    for name, value in changes.items():
        object.__setattr__(config, name, value)
    inspect.unwrap(TrainConfig.__post_init__)(config)
    return config


@pytest.mark.parametrize("change", TAKEN, ids=str)
def test_the_last_value_that_makes_sense_is_taken(change):
    """Catches a bound that is moved inwards."""
    config = dataclasses.replace(TrainConfig(5, 2), **change)
    assert dataclasses.asdict(config) == dataclasses.asdict(TrainConfig(5, 2)) | change


@pytest.mark.parametrize("change", REFUSED, ids=str)
def test_the_first_value_that_makes_none_is_named(change):
    """Catches a bound that is moved outwards, or not looked at."""
    (name,) = change
    with pytest.raises(ValueError, match=f"TrainConfig: {name}=.*, expected"):
        dataclasses.replace(TrainConfig(5, 2), **change)


@pytest.mark.parametrize("change", OF_ANOTHER_KIND, ids=str)
def test_a_value_of_another_kind_is_named(change):
    (name,) = change
    with pytest.raises(TypeError, match=f"TrainConfig: {name}=.*, expected"):
        unchecked_config(**change)


def test_what_is_not_given_is_as_it_was():
    """Catches another default: scripts would compute something else, and their checkpoints no longer be resumed."""
    assert dataclasses.asdict(TrainConfig(5, 2)) == {
        "n_steps": 5,
        "batch_size": 2,
        "learning_rate": 1e-3,
        "warmup_steps": 0,
        "min_lr_ratio": 0.1,
        "weight_decay": 0.1,
        "betas": (0.9, 0.95),
        "max_grad_norm": 1.0,
        "grad_accum_steps": 1,
        "eval_every": 0,
        "save_every": 0,
        "autocast": True,
        "seed": 0,
        "shard_on": None,
    }


def test_numbers_of_numpy_and_torch_are_kept_as_those_of_python():
    """Catches a number that a checkpoint's JSON cannot hold."""
    config = unchecked_config(
        n_steps=np.int64(4),
        eval_every=torch.tensor(2),
        learning_rate=np.float32(0.5),
        min_lr_ratio=torch.tensor(0.25),
        betas=[np.float64(0.5), torch.tensor(0.75)],
    )
    found = (config.n_steps, config.eval_every, config.learning_rate, config.min_lr_ratio, config.betas)
    assert found == (4, 2, 0.5, 0.25, (0.5, 0.75))
    assert [type(value) for value in (*found[:4], *found[4])] == [int, int, float, float, float, float]

"""The arguments of questions about PyTorch: each function gives the argument tuple of one call.

It serves as a case of `equals` and as what `ask` is called with. An author draws arrays in float64 as for NumPy; they
are sent in float32.
"""

import numpy as np


def tensors_call(*arguments, gives: str = "output", sliced: bool = False) -> tuple:
    """Call the function with `arguments`: for its result alone, they are given without this.

    It gives its "output", or the "gradients" of a fixed mixture of its results by each argument of floating point, a
    dict: "input 1", … With `sliced` each tensor is a slice of a longer one.
    """
    return ({"arguments": arguments, "gives": gives, "sliced": sliced},)


def module_call(
    sizes: dict,
    *calls: tuple,
    weights: dict[str, np.ndarray] | None = None,
    training: bool = False,
    gives: str = "output",
    seed: int = 0,
) -> tuple:
    """Build the class with the keyword arguments `sizes`, copy in `weights` by parameter name, call it on `calls`.

    Each call is a tuple of inputs. Without `weights` the module keeps those that it drew itself, the same for the same
    seed. It gives its "output" (a list of them where there are several calls), the "gradients" of a fixed mixture of
    the outputs of the first call (a dict: parameter names, and "input 1", … for inputs of floating point), the
    shapes of its "parameters" (a dict; needs no call), the outputs of the calls once more after its weights were
    "changed", or how many numbers it has "kept" after the calls in tensors that are no parameters. An entry "beside"
    of the plan holds the sizes of a second module that is built before the first is called; with "sliced" each input
    is a slice of a longer tensor, and "method" the name of the method that is called instead of the module itself.
    "values" gives the parameters as they are.
    """
    options = {"weights": weights, "training": training, "gives": gives, "seed": seed}
    return ({"sizes": sizes, "calls": list(calls), **options},)


def training_call(*arguments, held_out: tuple, seed: int = 0, written: bool = False) -> tuple:
    """Call the loop with `arguments`, then the module that it gives, in eval() mode, on the inputs `held_out`.

    The result is a dict with the module's "output", the optimiser "steps" that were taken, by how many "optimizers",
    the "losses" of the backward passes, how far a weight "moved" at most, whether the module is one that was "trained",
    with a weight that a step has moved or a copy of one, and the "kinds" of the module: the names of its class and of
    those above it. With `written` it also has what is "written": the last position of the output for each beginning of
    the last input alone, as when a text is written, so that a module that sees what comes later gains nothing. Targets
    of `held_out` belong in the check alone.
    """
    return ({"arguments": arguments, "held_out": held_out, "seed": seed} | ({"written": True} if written else {}),)


def generation_call(
    model: dict[str, np.ndarray], *arguments, training: bool = False, gives: str = "ids", seed: int = 0
) -> tuple:
    """Call the function with a small language model (of `small_model`, or of `small_encoder_decoder`) and `arguments`.

    It gives the "ids" that came back, or a "record": a dict with the "ids", and for each call of the model the "shapes"
    of its ids, whether it was in "training" mode and whether it kept "gradients"; "left" is its mode afterwards.
    """
    return ({"model": model, "arguments": arguments, "training": training, "gives": gives, "seed": seed},)


def small_model(rng: np.random.Generator, vocabulary: int, width: int, window: int) -> dict[str, np.ndarray]:
    """Weights of a model whose logits depend on every token before and on their positions; it takes `window` tokens."""
    shapes = {"embedding": (vocabulary, width), "positions": (window, width), "head": (width, vocabulary)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def small_encoder_decoder(
    rng: np.random.Generator, n_source: int, n_target: int, width: int, longest: int
) -> dict[str, np.ndarray]:
    """Weights of a model with `encode(source)`, which gives a memory and a mask, and `decode(target, memory, mask,
    cache)`; 0 is padding of the source, and the record of a call has the shapes of what was "encoded", too.
    """
    shapes = {"source": (n_source, width), "embedding": (n_target, width)}
    shapes |= {"positions": (longest, width), "head": (width, n_target)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def small_scores(model: dict[str, np.ndarray], source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """What the small encoder–decoder gives in eval() mode for a whole target, in NumPy."""
    places, words = model["positions"], (source != 0)[..., None]
    memory = np.tanh(model["source"][source] + places[: source.shape[1]]) * words
    seen = np.tanh(model["embedding"][target] + places[: target.shape[1]]).cumsum(1)
    return (seen + memory.sum(1, keepdims=True)) @ model["head"]


def small_logits(model: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """What the small model gives in eval() mode, in NumPy."""
    places = model["positions"][: ids.shape[1]]
    return np.tanh(model["embedding"][ids] + places).cumsum(1) @ model["head"]

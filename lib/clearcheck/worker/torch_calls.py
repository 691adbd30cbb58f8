"""Drive what a learner wrote in PyTorch, on arrays: tensors for the learner's code, arrays for the comparison.

With `torch_modules` and `small_model` all of the grader that needs torch; it is imported when a question asks for one
of `DRIVERS`. Each of them takes the learner's function or class and the arguments of the question, seeds the
generators, runs on one thread of the processor in float32, and leaves generators, gradient mode, default dtype and
device as they were.
"""

import contextlib
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import CellType, ModuleType

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from clearcheck.worker.call_request import Misfit
from clearcheck.worker.small_model import make_model
from clearcheck.worker.torch_modules import build_module, load_weights, nothing_drawn
from clearcheck.worker.values import GivenFunction, UnsupportedValue, pack
from clearcheck.worker.watched_training import watched_training


def on_tensors(function: Callable, args: tuple):
    """What the function gives, or the gradients of its arguments where a plan of `tensors_call` asks for them."""
    plan = args[0] if len(args) == 1 and isinstance(args[0], dict) and "arguments" in args[0] else {}
    arguments = plan.get("arguments", args)
    with isolated_torch_state(0):
        tensors = _tensors(arguments)
        if plan.get("sliced"):
            tensors = _sliced(tensors)
        if plan.get("gives") == "gradients":
            floats = _watched_floats(tensors, "gradient of argument")
            return _arrays(_gradients_of_mixture(function(*tensors), floats, 0, "returned a result"))
        result = _arrays(function(*tensors))
        if any(x.shape != array.shape for x, array in zip(_leaves(tensors), _leaves(arguments), strict=True)):
            raise Misfit("gave an argument another shape in place: `x.mT`, not `x.transpose_(-1, -2)`")
        return result


def on_module(cls: type, args: tuple):
    """Build the class with the plan's sizes, copy its weights in, and give what the plan asks for."""
    (plan,) = args
    with isolated_torch_state(plan["seed"]):
        with nothing_drawn() if plan["weights"] is not None else contextlib.nullcontext():
            module = build_module(cls, plan["sizes"])
        if "beside" in plan:  # a second one with other sizes, which the first must not know of
            build_module(cls, plan["beside"])
        if plan["weights"] is not None:
            load_weights(module, plan["weights"])
        module.train(plan["training"])
        _seed(plan["seed"])  # so that dropout does not depend on how many numbers the constructor drew
        return _arrays(_GIVES[plan["gives"]](module, plan))


def on_training(function: Callable, args: tuple) -> dict:
    """What the trained model gives on inputs whose targets are not here, and what its loop did."""
    (plan,) = args
    with isolated_torch_state(plan["seed"]):
        with watched_training() as watched:
            model = function(*_tensors(plan["arguments"]))
        if not isinstance(model, nn.Module):
            came = "None" if model is None else f"an object of type {type(model).__name__}"
            advice = " (does the function end with `return`?)" if model is None else ""
            raise Misfit(f"returned {came}; the trained nn.Module is expected{advice}")
        model.eval().to("cpu")  # a loop may have moved it to a GPU
        given = _tensors(plan["held_out"])
        with torch.no_grad():
            output = model(*given)
            result: dict = {"output": _arrays(output)}
            if "written" in plan:
                result["written"] = _arrays(_logits_by_prefix(model, *given))
            if not _about_equal(model(*given), output):
                raise Misfit(
                    "returned a model that gives two results for one input in eval() mode: dropout rests there"
                )
            if watched.steps and not _depends_on_weights(model, given, result["output"]):
                raise Misfit("returned a model that gives the same whatever its weights are: return the trained one")
        kinds = [cls.__name__ for cls in type(getattr(model, "_orig_mod", model)).__mro__]  # also if compiled
        did = {"steps": len(watched.steps), "optimizers": watched.optimizers, "trained": watched.trained(model)}
        return {**result, **did, "losses": watched.losses, "moved": watched.moved, "kinds": kinds}


def _about_equal(one, other) -> bool:
    """Whether two outputs have the same shapes, and numbers that are equal up to rounding in float32."""
    leaves, others = _tensors(_leaves(one)), _tensors(_leaves(other))
    if [x.shape for x in leaves] != [y.shape for y in others]:
        return False
    pairs = zip(leaves, others, strict=True)
    return all(torch.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True) for x, y in pairs)


def _depends_on_weights(model: nn.Module, given: tuple, output) -> bool:
    """Whether other weights give another output; the model is as it was afterwards."""
    weights = [weight for weight in model.parameters() if weight.is_floating_point()]
    kept = [weight.data for weight in weights]
    try:
        for weight in weights:
            weight.data = weight.data + torch.randn_like(weight.data)
        return pack(_arrays(model(*given))) != pack(output)
    finally:
        for weight, data in zip(weights, kept, strict=True):
            weight.data = data


def _logits_by_prefix(model: nn.Module, *given: Tensor) -> Tensor:
    """The last position of the output for each beginning of the last input."""
    *others, row = given
    return torch.stack([model(*others, row[:, :n])[:, -1] for n in range(1, row.shape[1] + 1)], dim=1)


def on_generation(function: Callable, args: tuple):
    """The ids that were generated with a small model, or what was done with it."""
    (plan,) = args
    with isolated_torch_state(plan["seed"]):
        model = make_model(plan["model"]).train(plan["training"])
        ids = _arrays(function(model, *_tensors(plan["arguments"])))
        return ids if plan["gives"] == "ids" else {"ids": ids, **model.record(), "left": model.training}


CHANGE = -0.5  # the factor by which weights are changed between two calls
DRIVERS = {"tensors": on_tensors, "module": on_module, "training": on_training, "generation": on_generation}


class CallWatch(TorchFunctionMode):
    """Notes in `used` each call of a function of torch whose last name is a key of `wanted`, or of `every` one."""

    def __init__(self, wanted: Mapping[str, str], used: list[str], every: bool = False):
        super().__init__()
        self.wanted, self.used, self.every = wanted, used, every

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "").split(".")[0]
        if name in self.wanted or self.every:
            self.used.append(self.wanted.get(name, f"torch.{name}"))
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def isolated_torch_state(seed: int) -> Iterator[None]:
    """One thread, float32, gradients on, seeded generators; afterwards everything is as before, but for the second of
    two normal numbers that NumPy may have had ready.
    """
    states, of_numpy = (torch.get_rng_state(), random.getstate()), np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.MT19937(seed))  # to copy its state takes longer than many an answer
    on_gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    dtype, device, threads = torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads()
    _settle(torch.float32, torch.device("cpu"), 1)
    _seed(seed)
    try:
        with torch.enable_grad():
            yield
            if not torch.is_grad_enabled():
                raise Misfit("switched gradients off for all that comes after it: write `with torch.no_grad():`")
    finally:
        _settle(dtype, device, threads)
        torch.set_rng_state(states[0])
        if on_gpus:
            torch.cuda.set_rng_state_all(on_gpus)
        np.random.set_bit_generator(of_numpy)
        random.setstate(states[1])


def _settle(dtype: torch.dtype, device: torch.device, threads: int):
    torch.set_default_dtype(dtype)
    torch.set_num_threads(threads)
    if torch.get_default_device() != device:
        torch.set_default_device(None if device.type == "cpu" else device)  # a set one makes every call slower


def _seed(seed: int):
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
    torch.default_generator.manual_seed(seed)  # torch.manual_seed would also format the stack, for a later CUDA
    np.random.seed(seed)
    random.seed(seed)


def _inputs(plan: dict, inputs: tuple) -> tuple:
    tensors = _tensors(inputs)
    return _sliced(tensors) if plan.get("sliced") else tensors


def _method(module: nn.Module, plan: dict) -> Callable:
    """What of a module is called: itself, or the method that the plan names. Raises: Misfit where it has none."""
    if "method" not in plan:
        return module
    if not callable(getattr(module, plan["method"], None)):
        raise Misfit(f"has no method `{plan['method']}`")
    return getattr(module, plan["method"])


def _outputs(module: nn.Module, plan: dict):
    with torch.set_grad_enabled(plan["training"]):  # a model in eval() mode is used without gradients
        outputs = [_method(module, plan)(*_inputs(plan, inputs)) for inputs in plan["calls"]]
    return outputs[0] if len(outputs) == 1 else outputs


def _gradients(module: nn.Module, plan: dict) -> dict:
    """Of a fixed random mixture of the outputs, by parameter name and "input 1", …."""
    inputs = _inputs(plan, plan["calls"][0])
    floats = _watched_floats(inputs, "input")
    outputs = module(*inputs)
    given = _named_parameters(module, plan["weights"] or {}) | floats
    return _gradients_of_mixture(outputs, given, plan["seed"], "gave an output")


def _watched_floats(inputs: tuple, word: str) -> dict[str, Tensor]:
    """The inputs of floating point, whose gradients are kept from here on: "input 1", …."""
    floats = {f"{word} {i}": x for i, x in enumerate(inputs, 1) if isinstance(x, Tensor) and x.is_floating_point()}
    for x in floats.values():
        x.requires_grad_()
    return floats


def _gradients_of_mixture(came, given: Mapping[str, Tensor], seed: int, gave: str) -> dict:
    """What comes back to each of `given` from a random mixture of what came. Raises: Misfit where nothing can."""
    outputs = [y for y in (came if isinstance(came, tuple | list) else [came]) if isinstance(y, Tensor)]
    if not outputs:
        raise Misfit("gave no tensor (does `forward` end with `return`?)")
    if not any(y.requires_grad for y in outputs):
        raise Misfit(f"{gave} without a gradient: look for `detach()`, `item()`, `.data` or `no_grad()`")
    mixing = torch.Generator().manual_seed(seed)
    mixture = sum((y * torch.randn(y.shape, generator=mixing)).sum() for y in outputs if y.is_floating_point())
    mixture.backward()
    none = UnsupportedValue("nothing, since no gradient arrives there")
    return {name: none if x.grad is None else x.grad for name, x in given.items()}


def _named_parameters(module: nn.Module, asked: Mapping) -> dict[str, nn.Parameter]:
    """Each parameter once: of several names the first that is `asked` for, or the first of all."""
    once: dict[int, tuple[str, nn.Parameter]] = {}
    every = module.named_parameters(remove_duplicate=False)
    for name, parameter in sorted(every, key=lambda pair: pair[0] not in asked):
        once.setdefault(id(parameter), (name, parameter))
    return dict(once.values())


def _parameters(module: nn.Module, plan: dict) -> dict[str, list[int]]:
    return {name: list(parameter.shape) for name, parameter in module.named_parameters()}


def _values(module: nn.Module, plan: dict) -> dict[str, Tensor]:
    return dict(module.named_parameters())


def _outputs_after_change(module: nn.Module, plan: dict):
    """The outputs once more, after every parameter was changed in place, as an optimiser does it."""
    _outputs(module, plan)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(CHANGE)
    return _outputs(module, plan)


def _count_kept_numbers(module: nn.Module, plan: dict) -> int:
    """How many numbers the tensors hold that module and parts keep after the calls, parameters left out."""
    _outputs(module, plan)
    views: dict[int, dict] = defaultdict(dict)
    for tensor in _held_tensors(module, set()):
        storage = tensor.untyped_storage()
        views[storage.data_ptr()][tensor.data_ptr(), tensor.shape] = tensor.numel()
        views[storage.data_ptr()]["room"] = storage.nbytes() // tensor.element_size()
    return sum(min(sizes.pop("room"), sum(sizes.values())) for sizes in views.values())


def _held_tensors(value, seen: set[int]) -> Iterator[Tensor]:
    """The tensors that an object holds, itself or in containers and objects of its own; each object once."""
    if isinstance(value, nn.Parameter | type | ModuleType) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Tensor):
        yield value
        return
    inside = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    closed_over = getattr(value, "__closure__", None) or ()
    if isinstance(value, CellType):
        with contextlib.suppress(ValueError):  # an empty one
            yield from _held_tensors(value.cell_contents, seen)
    for entry in value if isinstance(value, tuple | list) else [*inside.values(), *closed_over]:
        yield from _held_tensors(entry, seen)


_GIVES = {
    "output": _outputs,
    "gradients": _gradients,
    "parameters": _parameters,
    "values": _values,
    "changed": _outputs_after_change,
    "kept": _count_kept_numbers,
}


def _tensors(value):
    """The arrays in nested containers as tensors on the same memory, so that a change in place is seen; for one of
    NumPy's functions that of torch.
    """
    if isinstance(value, GivenFunction):
        return getattr(torch, value.name)
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return type(value)(map(_tensors, value))
    if isinstance(value, dict):
        return {key: _tensors(entry) for key, entry in value.items()}
    return value


def _sliced(value):
    """Each tensor of two axes or more as a slice of a longer one along its second axis."""
    if isinstance(value, Tensor) and value.ndim > 1 and value.shape[1]:
        return torch.cat([value, value[:, :1]], dim=1)[:, :-1]
    if isinstance(value, tuple | list):
        return type(value)(map(_sliced, value))
    return value


def _leaves(value) -> list:
    """The tensors or arrays in nested containers."""
    if isinstance(value, tuple | list | dict):
        return [leaf for entry in (value.values() if isinstance(value, dict) else value) for leaf in _leaves(entry)]
    return [value] if isinstance(value, Tensor | np.ndarray) else []


def _arrays(value):
    """Tensors cross as arrays; an array of the learner's own is told, since the task asks for a tensor."""
    if isinstance(value, np.ndarray | np.generic):
        return UnsupportedValue("a NumPy array")
    if isinstance(value, tuple | list):
        return tuple(map(_arrays, value)) if isinstance(value, tuple) else [_arrays(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _arrays(entry) for key, entry in value.items()}
    return value

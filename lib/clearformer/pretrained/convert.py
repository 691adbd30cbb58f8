"""Following the tables: their configuration and weights to ours, and ours to theirs."""

import re
from dataclasses import MISSING, Field, fields, replace
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.attention import SOFTMAX
from clearformer.checks import shorten
from clearformer.pretrained.tables import OTHERS, VALUES, Architecture, Row, weight_names
from clearformer.pretrained.together import LARGEST, function_and_arguments, meaning
from clearformer.training_state import plain_name
from clearformer.weight_files import find_misfits

WRAPPERS = ("_orig_mod.", "module.")  # what torch.compile and data parallelism put in front of each name
MOST_LAYERS, MOST_POSITIONS = 4096, 2**24
CLASSES_UNLESS_SAID = 2  # as transformers has it, where config.json has no labels
_NONE = object()  # stands for a value that they lack; None is one of ours


def read_config(architecture: Architecture, options: dict) -> Any:
    """Ours from their ``config.json``; ValueError names an option which is missing, or of a value we lack."""
    labels = options.get("id2label")
    n_labels = len(labels) if isinstance(labels, dict) and labels else CLASSES_UNLESS_SAID
    options = {"num_labels": n_labels} | architecture.defaults | architecture.plain(options)
    _refuse_what_is_huge(architecture, options)
    given = dict(architecture.constants)
    for field in fields(architecture.config):
        option = architecture.options.get(field.name)
        if option in options:
            given[field.name] = _read_value(field, option, options[option])
        elif option is not None and field.default is MISSING:
            raise ValueError(f"from_pretrained: config.json of a {architecture.model_type} lacks {option!r}.")
    needed = architecture.fixed | {name: of(options) for name, of in architecture.same.items()}
    needed["quantization_config"] = None
    for name, value in needed.items():
        if options.get(name, value) not in (value, None):
            raise ValueError(
                f"from_pretrained: {architecture.model_type} with {name}={options[name]!r} is not supported, only "
                f"{name}={value!r}. Choose another checkpoint. {OTHERS}"
            )
    for several in architecture.together:
        given |= several.read(options)
    return architecture.config(**given)


def _refuse_what_is_huge(architecture: Architecture, options: dict) -> None:
    """Refuse numbers of layers and positions that would take all memory before anything else could be told of them."""
    counted = [size for size in architecture.layers.values() if isinstance(size, str)]
    bounds = dict.fromkeys(counted, MOST_LAYERS) | {"n_positions": MOST_POSITIONS}
    for field, most in bounds.items():
        option = architecture.options.get(field)
        value = options.get(option)
        if isinstance(value, int) and value > most:
            raise ValueError(
                f"from_pretrained: {option}={shorten(value)} in config.json, expected at most {most}. Take an intact "
                "copy."
            )


def build_model(architecture: Architecture, config: Any) -> nn.Module:
    """Our model. Raises: ValueError for sizes that torch cannot make tensors of."""
    try:
        return (architecture.build or architecture.model)(config)
    except (RuntimeError, MemoryError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"from_pretrained: no model of the sizes in config.json can be built: {reason}") from error


def write_config(architecture: Architecture, config: Any) -> tuple[dict, list[str]]:
    """Their ``config.json`` from ours, and in sentences what of ours they have no option or value for."""
    misfits = _other_constants(architecture, config)
    options = {"model_type": architecture.model_type, "architectures": [architecture.class_name]}
    for name, option in architecture.options.items():
        value = getattr(config, name)
        theirs = _written_value(name, value)
        if theirs is _NONE:
            known = ", ".join(map(_display_name, VALUES[name].values()))
            came = f"{name}={_display_name(value)}"
            misfits.append(f"{architecture.class_name} has no {option} for {came}, only for {known}")
        else:
            options[option] = theirs
    for several in architecture.together:
        options |= several.write(config)
    if not misfits:
        misfits += _changed(architecture, config, options)
    if not misfits:
        options |= {name: of(options) for name, of in architecture.same.items()}
    return options, misfits


def _changed(architecture: Architecture, config: Any, options: dict) -> list[str]:
    """What of ours would come back as something else, in sentences."""
    read = architecture.defaults | architecture.plain(options)
    changed = []
    for several in architecture.together:
        back = replace(config, **several.read(read))
        names = [name for name in several.fields if meaning(back, name) != meaning(config, name)]
        came = (f"{name}={_display_name(getattr(config, name))}" for name in names)
        changed += [f"{architecture.class_name} has no option for {' with '.join(came)}"] if names else []
    return changed


def _other_constants(architecture: Architecture, config: Any) -> list[str]:
    """What of ours is not what it always is with them, in sentences."""
    misfits = []
    for name, value in architecture.constants.items():
        came = getattr(config, name)
        # What the constant comes to in this configuration: None may stand for as many key heads as heads.
        expected = getattr(replace(config, **{name: None}).filled(), name) if value is None else value
        if function_and_arguments(came) != function_and_arguments(expected):
            misfits.append(
                f"{architecture.class_name} has no option for {name}={_display_name(came)}, "
                f"there it is always {_display_name(value)}"
            )
    return misfits


def _written_value(name: str, value: Any) -> Any:
    """Their value for one of ours; ``_NONE`` where they have none."""
    if name in VALUES:
        return next((key for key, ours in VALUES[name].items() if ours == value), _NONE)
    return value


class NoHead(nn.Module):
    """Stands where a model would have what its checkpoint does not hold, and says so when it is used."""

    def __init__(self, model: nn.Module, a: Architecture):
        super().__init__()
        methods = [name for name in ("encode", "classifier", "hidden_states") if hasattr(model, name)]
        self.message = (
            f"{type(model).__name__}: its checkpoint was a {a.bare}, which has no head, so it cannot be called. "
            f"Call its {' or '.join(methods)}, or load a checkpoint of {a.class_name}."
        )

    def forward(self, *_):
        raise ValueError(self.message)


def is_headless(model: nn.Module) -> bool:
    """Whether the checkpoint that a model was loaded from had no head."""
    return any(isinstance(part, NoHead) for part in model.children())


def fitting_rows(
    model: nn.Module, architecture: Architecture, theirs: dict[str, Tensor]
) -> tuple[list[Row], dict[str, Tensor], bool]:
    """The lines of the table by which their weights become ours, the weights, and whether they have no head.

    ``model`` may be on the device "meta": only shapes are looked at.

    Raises: ValueError with the list of all that are missing, unexpected, of another shape or no floating-point numbers.
    """
    theirs, wrong = _canonical(architecture, model.config, theirs)
    rows = list(weight_names(architecture, model.config))
    body = list(weight_names(architecture, model.config, headless=True))
    of_the_head = [source for row in rows if row not in body for source in row.theirs]
    headless = bool(of_the_head) and not any(source in theirs for source in of_the_head)
    if headless:
        rows = body
    ours = weights(model)
    expected = (
        pair for row in rows for pair in zip(row.theirs, row.layout.save(ours[row.ours], model.config), strict=True)
    )
    wrong += find_misfits(theirs, expected, any_float=True)
    if wrong:
        raise ValueError(_other_weights(architecture, wrong))
    return rows, theirs, headless


@torch.no_grad()
def load_weights(model: nn.Module, architecture: Architecture, theirs: dict[str, Tensor]) -> None:
    """Copy their weights into our model; a checkpoint without any weight of the head leaves it without one.

    Raises: ValueError as ``fitting_rows``.
    """
    rows, theirs, headless = fitting_rows(model, architecture, theirs)
    ours = weights(model)
    for row in rows:
        ours[row.ours].copy_(row.layout.load([theirs[source] for source in row.theirs], model.config))
    if headless:
        for name in architecture.head:
            is_module = isinstance(getattr(model, name), nn.Module)
            setattr(model, name, NoHead(model, architecture) if is_module else None)


def _other_weights(a: Architecture, wrong: list[str]) -> str:
    bare = f" or {a.bare}" if a.head else ""
    return (
        f"from_pretrained: the weights do not fit this {a.model_type}'s config.json: {'; '.join(sorted(wrong))}. "
        f"Expected is a {a.class_name}{bare} with its own config.json. From one with another head take what is below "
        f"it: transformers.{a.bare}.from_pretrained(folder).save_pretrained(other_folder)."
    )


def save_weights(model: nn.Module, architecture: Architecture) -> tuple[dict[str, Tensor], list[str]]:
    """Copies of our weights under their names, and in a sentence what of ours the table lacks."""
    ours, theirs = weights(model), {}
    rows = list(weight_names(architecture, model.config, headless=is_headless(model)))
    odd = _other_attentions(model) | _used_twice(model) | (ours.keys() ^ {row.ours for row in rows})
    if odd:
        return {}, [f"weights or attend not those of a {architecture.class_name}: {', '.join(sorted(odd))}"]
    for row in rows:
        parts = row.layout.save(ours[row.ours].detach(), model.config)
        for target, part in zip(row.theirs, parts, strict=True):
            theirs[target] = part.clone(memory_format=torch.contiguous_format).cpu()
    theirs |= {copy: theirs[architecture.aliases[copy]].clone() for copy in architecture.copies}
    return _stacked_again(architecture, theirs), []


def _one_for_each_expert(architecture: Architecture, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without the tensors that hold one for each expert, which are there under ``name.0``, ``name.1``, ... instead."""
    apart: dict[str, Tensor] = {}
    for name, tensor in theirs.items():
        if tensor.ndim and any(re.search(pattern + "$", name) for pattern in architecture.stacked):
            apart |= {f"{name}.{e}": one for e, one in enumerate(tensor)}
        else:
            apart[name] = tensor
    return apart


def _stacked_again(architecture: Architecture, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The reverse of ``_one_for_each_expert``."""
    joined: dict[str, Tensor] = {}
    parts: dict[str, list[Tensor]] = {}
    for name, tensor in theirs.items():
        whole = name.rpartition(".")[0]
        if any(re.search(pattern + "$", whole) for pattern in architecture.stacked):
            parts.setdefault(whole, []).append(tensor)
        else:
            joined[name] = tensor
    return joined | {name: torch.stack(tensors) for name, tensors in parts.items()}


def _other_attentions(model: nn.Module) -> set[str]:
    """The names of modules whose attention is no softmax, or has biases that the configuration says nothing of."""
    known = (None, getattr(model.config, "attend", None), *SOFTMAX)
    biased = getattr(model.config, "distances", None) is not None
    return {
        name
        for name, module in model.named_modules()
        if vars(module).get("attend") not in known or (getattr(module, "relative", None) is not None and not biased)
    }


def _used_twice(model: nn.Module) -> set[str]:
    """The second names of weights in several places, but for a tied head, and distances that all layers share."""
    first: dict[int, str] = {}
    return {
        name
        for name, weight in model.named_parameters(remove_duplicate=False)
        if first.setdefault(id(weight), name) != name
        and plain_name(name) != "head.weight"
        and ".attention.relative." not in name
    }


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and what else a checkpoint holds, a tied weight once; without what is empty, as no class tokens."""
    stored = model.state_dict().keys()
    everything = dict(model.named_parameters()) | dict(model.named_buffers())
    return {plain_name(name): tensor for name, tensor in everything.items() if name in stored and tensor.numel()}


def _canonical(
    architecture: Architecture, config: Any, theirs: dict[str, Tensor]
) -> tuple[dict[str, Tensor], list[str]]:
    """The same tensors, each under the one name that the table has, without what holds nothing.

    Besides, in sentences, which of those with two names are not the same under both.
    """
    theirs = dict(theirs)
    for wrapper in WRAPPERS:
        if theirs and all(name.startswith(wrapper) for name in theirs):
            theirs = {name.removeprefix(wrapper): tensor for name, tensor in theirs.items()}
    if not any(name.startswith(architecture.prefix) for name in theirs):
        theirs = {architecture.prefix + name: tensor for name, tensor in theirs.items()}
    for pattern, replacement in architecture.renames:
        theirs = {re.sub(pattern, replacement, name): tensor for name, tensor in theirs.items()}
    for pattern in architecture.ignored:
        theirs = {name: tensor for name, tensor in theirs.items() if not re.fullmatch(pattern, name)}
    theirs = _one_for_each_expert(architecture, theirs)
    misfits = []
    own_heads = (
        () if getattr(config, "tied", True) else [r.theirs for r in architecture.rows if r.ours == "head.weight"]
    )
    for alias, name in architecture.aliases.items():
        if alias in theirs and alias not in own_heads:
            tensor = theirs.pop(alias)
            if not torch.equal(theirs.setdefault(name, tensor), tensor):
                misfits.append(f"{alias} is not equal to {name}, to which it is tied")
    return theirs, misfits


def _read_value(field: Field, option: str, value: Any) -> Any:
    """Ours from their value of an option. Raises: ValueError for one that we lack."""
    if field.name not in VALUES:
        return _checked_number(field.type, option, value)
    table = VALUES[field.name]
    for theirs, ours in table.items():  # not by lookup: the value may be a list
        if theirs == value:
            return ours
    known = ", ".join(map(repr, table))
    raise ValueError(f"from_pretrained: {option}={value!r} in config.json is not supported, only {known}.")


def _checked_number(kind: Any, option: str, value: Any) -> Any:
    """``value``, if it is of the ``kind`` of our field: a whole number may stand for a float, None for what is open."""
    if kind is bool:
        fits = isinstance(value, bool)
    elif kind in (int, float):
        fits = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    else:
        fits = value is None or (isinstance(value, int) and not isinstance(value, bool))
    if not fits or (value is not None and not abs(value) < LARGEST):
        expected = "true or false" if kind is bool else "a number, below 2 to the 60"
        raise ValueError(f"from_pretrained: {option}={shorten(value)} in config.json, expected {expected}.")
    return float(value) if kind is float else value


def _display_name(value: Any) -> str:
    """A function by its name, anything else as it prints."""
    return getattr(value, "__name__", repr(value))

"""Following the tables: their configuration and weights to ours, and ours to theirs."""

import re
from dataclasses import MISSING, fields, replace

import torch
from torch import Tensor, nn

from clearformer.attention import SOFTMAX
from clearformer.checkpoint import plain_name
from clearformer.pretrained.tables import VALUES, Architecture, weight_names

WRAPPERS = ("_orig_mod.", "module.")  # what torch.compile and data parallelism put in front of each name
CLASSES_UNLESS_SAID = 2  # as transformers has it, where config.json has no labels


def read_config(architecture: Architecture, options: dict):
    """Ours from their ``config.json``; ValueError names an option which is missing, or of a value we lack."""
    labels = options.get("id2label")
    n_labels = len(labels) if isinstance(labels, dict) and labels else CLASSES_UNLESS_SAID
    options = {"num_labels": n_labels} | architecture.defaults | architecture.plain(options)
    given = dict(architecture.constants)
    for field in fields(architecture.config):
        option = architecture.options.get(field.name)
        if option in options:
            given[field.name] = _read_value(field, option, options[option])
        elif option is not None and field.default is MISSING:
            raise ValueError(f"from_pretrained: config.json of a {architecture.model_type} lacks {option!r}.")
    needed = architecture.fixed | {name: of(options) for name, of in architecture.same.items()}
    for name, value in (needed | {"quantization_config": None}).items():
        if options.get(name, value) not in (value, None):
            raise ValueError(
                f"from_pretrained: {architecture.model_type} with {name}={options[name]!r} is not supported, only "
                f"{name}={value!r}. Choose another checkpoint."
            )
    return architecture.config(**given)


def write_config(architecture: Architecture, config) -> tuple[dict, list[str]]:
    """Their ``config.json`` from ours, and in sentences what of ours they have no option or value for."""
    misfits = []
    for name, value in architecture.constants.items():
        # what the constant comes to in this configuration, such as as many key heads as heads
        if getattr(config, name) != getattr(replace(config, **{name: value}).filled(), name):
            misfits.append(
                f"{architecture.class_name} has no option for {name}={_shown(getattr(config, name))}, there it is "
                f"always {_shown(value)}"
            )
    options = {"model_type": architecture.model_type, "architectures": [architecture.class_name]}
    for name, option in architecture.options.items():
        value, table = getattr(config, name), VALUES.get(name)
        if table is not None:
            pair = isinstance(table, tuple)
            theirs = table[1](value) if pair else [key for key, ours in table.items() if ours == value]
            if not theirs:
                known = "Rotary with a base" if pair else ", ".join(_shown(v) for v in table.values())
                came = f"{name}={_shown(value)}"
                misfits.append(f"{architecture.class_name} has no {option} for {came}, only for {known}")
                continue
            value = theirs[0]
        options[option] = value
    if not misfits:
        options |= {name: of(options) for name, of in architecture.same.items()}
    return options, misfits


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


@torch.no_grad()
def load_weights(model: nn.Module, architecture: Architecture, theirs: dict[str, Tensor]) -> None:
    """Copy their weights into our model; a checkpoint without any weight of the head leaves it without one.

    Raises: ValueError with the list of all that are missing, unexpected, of another shape or no floating-point numbers.
    """
    config, misfits = model.config, []
    theirs = _canonical(architecture, config, theirs, misfits)
    ours = weights(model)
    rows, body = (list(weight_names(architecture, config, headless=headless)) for headless in (False, True))
    headless = len(body) < len(rows) and not any(s in theirs for row in rows if row not in body for s in row.theirs)
    rows = body if headless else rows
    for name, sources, layout in rows:
        for source, expected in zip(sources, layout.save(ours[name], config), strict=True):
            found = theirs.get(source)
            if found is None:
                misfits.append(f"{source} is missing")
            elif found.shape != expected.shape or not found.is_floating_point():
                is_so = f"{str(found.dtype).removeprefix('torch.')} {tuple(found.shape)}"
                misfits.append(f"{source} is {is_so}, expected floating-point {tuple(expected.shape)}")
    misfits += [f"{name} is unexpected" for name in theirs.keys() - {s for row in rows for s in row.theirs}]
    if misfits:
        a = architecture
        raise ValueError(
            f"from_pretrained: the weights do not fit this {a.model_type}'s config.json: {'; '.join(sorted(misfits))}. "
            f"Expected is a {a.class_name}{f' or {a.bare}' if a.head else ''} with its own config.json. From one with "
            "another head take what is below it: "
            f"transformers.{a.bare}.from_pretrained(folder).save_pretrained(other_folder)."
        )
    for name, sources, layout in rows:
        ours[name].copy_(layout.load([theirs[source] for source in sources], config))
    for name in architecture.head if headless else ():
        setattr(model, name, NoHead(model, architecture) if isinstance(getattr(model, name), nn.Module) else None)


def save_weights(model: nn.Module, architecture: Architecture) -> tuple[dict[str, Tensor], list[str]]:
    """Copies of our weights under their names, and in a sentence what of ours the table lacks."""
    ours, theirs = weights(model), {}
    rows = list(weight_names(architecture, model.config, headless=is_headless(model)))
    odd = _other_attentions(model) | _used_twice(model) | (ours.keys() ^ {row.ours for row in rows})
    if odd:
        return {}, [f"weights or attend not those of a {architecture.class_name}: {', '.join(sorted(odd))}"]
    for name, targets, layout in rows:
        parts = layout.save(ours[name].detach(), model.config)
        for target, part in zip(targets, parts, strict=True):
            theirs[target] = part.clone(memory_format=torch.contiguous_format).cpu()
    return theirs, []


def _other_attentions(model: nn.Module) -> set[str]:
    """The names of modules whose attention is no softmax, or has biases of its own: no family has these."""
    return {
        name
        for name, module in model.named_modules()
        if vars(module).get("attend") not in (None, *SOFTMAX) or getattr(module, "relative", None) is not None
    }


def _used_twice(model: nn.Module) -> set[str]:
    """The second names of weights that stand in several places, but for a head that is tied to the embedding."""
    first: dict[int, str] = {}
    return {
        name
        for name, weight in model.named_parameters(remove_duplicate=False)
        if first.setdefault(id(weight), name) != name and plain_name(name) != "head.weight"
    }


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and what else a checkpoint holds, a tied weight once."""
    stored = model.state_dict().keys()
    everything = dict(model.named_parameters()) | dict(model.named_buffers())
    return {plain_name(name): tensor for name, tensor in everything.items() if name in stored}


def _canonical(architecture, config, theirs, misfits):
    """The same tensors, each under the one name that the table has, without what holds nothing."""
    for wrapper in WRAPPERS:
        if theirs and all(name.startswith(wrapper) for name in theirs):
            theirs = {name.removeprefix(wrapper): tensor for name, tensor in theirs.items()}
    if not any(name.startswith(architecture.prefix) for name in theirs):
        theirs = {architecture.prefix + name: tensor for name, tensor in theirs.items()}
    for pattern, replacement in architecture.renames:
        theirs = {re.sub(pattern, replacement, name): tensor for name, tensor in theirs.items()}
    theirs = {n: t for n, t in theirs.items() if not any(re.fullmatch(p, n) for p in architecture.ignored)}
    for alias, name in architecture.aliases.items() if getattr(config, "tied", True) else ():
        if alias in theirs:
            tensor = theirs.pop(alias)
            if not torch.equal(theirs.setdefault(name, tensor), tensor):
                misfits.append(f"{alias} is not equal to {name}, to which it is tied")
    return theirs


def _read_value(field, option, value):
    table = VALUES.get(field.name)
    if not isinstance(table, dict):
        kinds = {int: int, float: (int, float), bool: bool}.get(field.type, (int, float if table else type(None)))
        if not isinstance(value, kinds) or (isinstance(value, bool) and field.type is not bool):
            raise ValueError(f"from_pretrained: {option}={value!r} in config.json, expected a number.")
        return table[0](value) if table else value
    for theirs, ours in table.items():  # not by lookup: the value may be a list
        if theirs == value:
            return ours
    known = ", ".join(map(repr, table))
    raise ValueError(f"from_pretrained: {option}={value!r} in config.json is not supported, only {known}.")


def _shown(value):
    """A function by its name, anything else as it prints."""
    return getattr(value, "__name__", repr(value))

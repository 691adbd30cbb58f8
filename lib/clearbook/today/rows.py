"""The rows of chapters/models.yml: a model, its facts, and the source of each of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from clearbook.data.course_files import course_file
from clearbook.today import schema

FILE = "chapters/models.yml"
SHIPPED = {"what", "url", "seen"}
NEEDED = (
    ("window", "window"),
    ("chunk", "window"),
    ("selected", "selected"),
    ("linear", "linear"),
    ("state", "linear"),
)
RATIO = 8  # a mix that adds up to no more is a proportion: 3 linear layers for each full one


@dataclass(frozen=True)
class Source:
    """Where a fact was read, and when; ``cite`` is its key in references.bib, where it has one."""

    key: str
    what: str
    url: str
    seen: date
    cite: str | None = None


@dataclass(frozen=True)
class Fact:
    """What a source says."""

    value: Any
    source: Source


@dataclass(frozen=True)
class Model:
    """A model with what is known of it."""

    name: str
    organisation: str
    kind: str
    facts: Mapping[str, Fact]

    def get(self, name: str) -> Any:
        """The value of a fact, or None where no source was found.

        Raises: ValueError for a fact that there is not.
        """
        if name not in schema.FACTS:
            raise ValueError(f"{self.name}: there is no fact {name!r}. Choose one of {', '.join(schema.FACTS)}.")
        return self.facts[name].value if name in self.facts else None

    def need(self, *names: str) -> list[Any]:
        """The values of these facts. Raises: ValueError for what is not known of the model."""
        if missing := [name for name in names if self.get(name) is None]:
            raise ValueError(f"{self.name}: {FILE} has no {', '.join(missing)}.")
        return [self.facts[name].value for name in names]


@dataclass(frozen=True)
class Gallery:
    """All that the file holds, as of a day."""

    as_of: date
    sources: Mapping[str, Source]
    models: Mapping[str, Model]

    def model(self, name: str) -> Model:
        """One of the models. Raises: ValueError for a name that the file does not have."""
        if name not in self.models:
            raise ValueError(f"{FILE} has no {name!r}. Choose one of {', '.join(self.models)}.")
        return self.models[name]


@cache
def gallery() -> Gallery:
    """The file of the course. Raises: FileNotFoundError, and ValueError as ``read``."""
    return load_gallery(course_file(FILE))


def load_gallery(path: Path) -> Gallery:
    """A file like it. Raises: ValueError for whatever in it is not as the schema has it."""
    return read_gallery(yaml.safe_load(path.read_text(encoding="utf-8")))


def read_gallery(data: Mapping[str, Any]) -> Gallery:
    """The rows of what was loaded. Raises: ValueError for a row, a source or a fact that is wrong."""
    if {*data} != {"as_of", "sources", "models"} or not isinstance(data["as_of"], date):
        raise ValueError(f"{FILE}: found {', '.join(map(str, data))}, expected a day as_of, sources and models.")
    sources = {key: _source(key, row, data["as_of"]) for key, row in data["sources"].items()}
    models: dict[str, Model] = {}
    for row in data["models"]:
        model = _model(row, sources)
        if model.name in models:
            raise ValueError(f"{FILE}: {model.name} stands there twice. Put its facts into one row.")
        models[model.name] = model
    return Gallery(data["as_of"], sources, models)


def _source(key: str, row: Mapping[str, Any], as_of: date) -> Source:
    if not SHIPPED <= {*row} <= SHIPPED | {"cite"}:
        raise ValueError(f"{FILE}: source {key} has {', '.join(row)}, expected what, url, seen and perhaps cite.")
    if not str(row["url"]).startswith("https://") or not str(row["what"]).strip():
        raise ValueError(f"{FILE}: source {key} needs a few words and an address with https, got {dict(row)}.")
    if not isinstance(row["seen"], date) or row["seen"] > as_of:
        raise ValueError(f"{FILE}: source {key} was seen {row['seen']}, expected a day up to {as_of}, that of as_of.")
    return Source(key, **row)


def _model(row: Mapping[str, Any], sources: Mapping[str, Source]) -> Model:
    name = row.get("name", "a row without a name")
    if {*row} != {"name", "organisation", "kind", "facts"} or row["kind"] not in schema.KINDS:
        raise ValueError(
            f"{FILE}: {name} has {', '.join(row)}, expected name, organisation, kind and facts, "
            f"and as its kind one of {', '.join(schema.KINDS)}."
        )
    facts: dict[str, Fact] = {}
    for key, told in row["facts"].items():
        if key not in sources:
            raise ValueError(f"{FILE}: {name} names a source {key!r} that is not listed. Add it to sources.")
        for fact, value in told.items():
            _put(facts, name, fact, Fact(value, sources[key]))
    _check_together(name, {fact: found.value for fact, found in facts.items()})
    return Model(name, row["organisation"], row["kind"], facts)


def _put(facts: dict[str, Fact], name: str, fact: str, found: Fact) -> None:
    if fact in facts:
        raise ValueError(
            f"{FILE}: {name}: {fact} stands under {facts[fact].source.key} and under {found.source.key}. Leave one."
        )
    try:
        expected = schema.check(fact, found.value)
    except ValueError as error:
        raise ValueError(f"{FILE}: {name}: {error}") from None
    if expected:
        raise ValueError(f"{FILE}: {name}: {fact} is {found.value!r}, expected {expected}.")
    facts[fact] = found


def _check_together(name: str, facts: Mapping[str, Any]) -> None:
    """Raises: ValueError for facts that cannot all be true."""
    layers, mix, experts = facts.get("layers"), facts.get("mix"), facts.get("experts", {})
    heads, kv_heads = facts.get("heads"), facts.get("kv_heads")
    wrong = {
        f"{heads} heads cannot share {kv_heads} keys evenly": heads and kv_heads and heads % kv_heads,
        f"width {facts.get('d_model')} does not divide among {heads} heads, and no d_head is given": (
            heads and not {"d_head", "latent"} & {*facts} and facts.get("d_model", heads) % heads
        ),
        f"attention is {facts.get('attention')} with {heads} heads and {kv_heads} keys": (
            facts.get("attention") == "grouped" and heads is not None and heads == kv_heads
        ),
        f"the mix {mix} does not add up to {layers} layers": (
            mix and layers and sum(mix.values()) != layers and sum(mix.values()) > RATIO
        ),
        f"{experts.get('active')} of {experts.get('routed')} experts": experts.get("active", 0)
        > experts.get("routed", 0),
        f"more weights at work ({facts.get('active')}) than there are ({facts.get('parameters')})": (
            {"active", "parameters"} <= {*facts}
            and schema.read_number(facts["active"])[0] > schema.read_number(facts["parameters"])[0]
        ),
        "layers without what they are": mix and any(kind in mix and fact not in facts for kind, fact in NEEDED),
    }
    if found := [told for told, is_wrong in wrong.items() if is_wrong]:
        raise ValueError(f"{FILE}: {name}: {'; '.join(found)}. Look at its sources again.")

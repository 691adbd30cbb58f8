"""The table *Today* of a chapter: models in rows, chosen columns, and the sources of what stands in them."""

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clearbook.today.cells import COLUMNS, Column, date_in_words
from clearbook.today.parts import PARTS
from clearbook.today.rows import Gallery, Model, Source, gallery

UNKNOWN = "—"


@dataclass(frozen=True, repr=False)
class Table:
    """What a notebook shows: as HTML where it can, else as text. ``own`` are rows that the page measured itself."""

    columns: tuple[Column, ...]
    models: tuple[Model, ...]
    own: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def rows(self) -> list[list[str]]:
        """The words in the cells of the models, row by row, without names and sources."""
        return [[_cell(column, model) for column in self.columns] for model in self.models]

    @property
    def sources(self) -> list[Source]:
        """The sources of what is shown, each once, in the order of the rows."""
        found: dict[str, Source] = {}
        for model in self.models:
            found |= {source.key: source for source in _sources(self.columns, model)}
        return list(found.values())

    @property
    def parts(self) -> list[str]:
        """The words in the cells that PARTS explains, each once, in its order."""
        shown = {part for column in self.columns for model in self.models for part in column.parts(model)}
        return [part for part in PARTS if part in shown]

    @property
    def as_of(self) -> str:
        """The last day on which one of these sources was read, in words."""
        return date_in_words(max(source.seen for source in self.sources).isoformat())

    def __repr__(self) -> str:
        head = ["model", *(column.heading for column in self.columns)]
        lines = [head, *([name, *row] for name, row in self.own.items())]
        lines += [[model.name, *row] for model, row in zip(self.models, self.rows, strict=True)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        text = [" | ".join(word.ljust(w) for word, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        names = "; ".join(source.what for source in self.sources)
        told = [f"{part}: {PARTS[part][0]}" for part in self.parts]
        return "\n".join([*text, *told, *textwrap.wrap(f"As of {self.as_of}. Sources: {names}.", 100)])

    def _repr_html_(self) -> str:
        numbers = {source.key: n for n, source in enumerate(self.sources, 1)}
        head = "".join(
            f'<th scope="col" role="columnheader">{html.escape(name)}</th>'
            for name in ("model", *(column.heading for column in self.columns), "sources")
        )
        body = "".join(self._own_row(name, row) for name, row in self.own.items())
        body += "".join(self._row(model, row, numbers) for model, row in zip(self.models, self.rows, strict=True))
        listed = "".join(f"<li>{_link(source, source.what)}, seen {source.seen}</li>" for source in self.sources)
        caption = f"As of {self.as_of}."
        if any(UNKNOWN in row for row in (*self.rows, *self.own.values())):
            caption += " A dash stands where no source was found, or where the model has no such part."
        return (
            f'<div class="today"><table role="table"><caption>{caption}</caption>'
            f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table>'
            f"{self._explained()}<details><summary>Sources</summary><ol>{listed}</ol></details></div>"
        )

    def _explained(self) -> str:
        """The parts, what they are, and links to where the book tells more."""
        if not self.parts:
            return ""
        up = "../" if Path.cwd().name == "closer" else ""  # a notebook runs in its own folder
        told = [
            f'<li><a class="part" href="{up}{page}">{html.escape(part)}</a>: {html.escape(what)}</li>'
            for part, (what, page) in ((part, PARTS[part]) for part in self.parts)
        ]
        return f"<details><summary>What each part is</summary><ul>{''.join(told)}</ul></details>"

    def _row(self, model: Model, words: list[str], numbers: dict[str, int]) -> str:
        sources = sorted(_sources(self.columns, model), key=lambda source: numbers[source.key])
        links = ", ".join(_link(source, str(numbers[source.key])) for source in sources)
        return self._own_row(model.name, words, links)

    def _own_row(self, name: str, words: list[str], links: str = "this page") -> str:
        cells = [_labelled(column.heading, html.escape(word)) for column, word in zip(self.columns, words, strict=True)]
        head = f'<th scope="row" role="rowheader">{html.escape(name)}</th>'
        return f'<tr role="row">{head}{"".join(cells)}{_labelled("sources", links)}</tr>'


def today(
    *columns: str,
    models: Sequence[str] | None = None,
    own: Mapping[str, Mapping[str, str]] | None = None,
    held: Gallery | None = None,
) -> Table:
    """A table of the facts in ``columns``, oldest model first.

    ``models`` are names of chapters/models.yml; without them all stand there of which the first column is known.
    ``own`` are rows above them of what the page trained itself, by name: the words in some of the columns.

    Raises: ValueError for no column, an unknown column or model, a model named twice, or a column that is empty.
    """
    held = held or gallery()
    if not columns or (unknown := [name for name in columns if name not in COLUMNS]):
        what = f"there is no {', '.join(unknown)}" if columns else "no column is named"
        raise ValueError(f"today: {what}. Choose some of {', '.join(COLUMNS)}.")
    _check_own(own or {}, columns)
    chosen = tuple(COLUMNS[name] for name in columns)
    if models is not None and len({*models}) < len(models):
        raise ValueError(f"today: a model is named twice in {', '.join(models)}. Name each once.")
    picked: Iterable[Model] = (
        [model for model in held.models.values() if chosen[0].words_or_none(model)]
        if models is None
        else [held.model(name) for name in models]
    )
    rows = {name: [words.get(column, UNKNOWN) for column in columns] for name, words in (own or {}).items()}
    table = Table(chosen, tuple(sorted(picked, key=_when)), rows)
    for i, column in enumerate(chosen):
        if all(row[i] == UNKNOWN for row in table.rows):
            raise ValueError(f"today: {column.heading} is known of none of these models. Leave the column out.")
    return table


def _check_own(own: Mapping[str, Mapping[str, str]], columns: Sequence[str]) -> None:
    for name, words in own.items():
        if other := [column for column in words if column not in columns]:
            raise ValueError(f"today: {name} has words for {', '.join(other)}, expected some of {', '.join(columns)}.")


def _when(model: Model) -> str:
    return model.get("released") or "9999"


def _cell(column: Column, model: Model) -> str:
    return column.words_or_none(model) or UNKNOWN


def _sources(columns: Iterable[Column], model: Model) -> list[Source]:
    """Each source of what these columns show of a model, once."""
    shown = [model.facts[name].source for column in columns for name in column.facts if name in model.facts]
    return list({source.key: source for source in shown}.values())


def _link(source: Source, text: str) -> str:
    named = f' aria-label="source {text}: {html.escape(source.what)}"' if text.isdigit() else ""
    return f'<a href="{html.escape(source.url)}"{named} title="{html.escape(source.what)}">{html.escape(text)}</a>'


def _labelled(heading: str, cell: str) -> str:
    return f'<td role="cell" data-label="{html.escape(heading)}">{cell}</td>'

"""What the front page shows in the place of the live model until it is started: one head at work, and what comes next.

Everything in it is computed by the library: the weights of the head, and the probabilities of the next token.
"""

import html
import json
from pathlib import Path

import yaml

from tools import ROOT
from tools.extension.live_transformer import likeliest, spell
from tools.extension.live_weights import load_live_model

CELL = 13  # of the map, in the units of its drawing
BAR = 55  # per cent of the column, for the likeliest token
BARS = 6
KINDS = {"look": {"head"}, "loop": set(), "pieces": {"beside"}}  # of tasks, and what each needs besides
FIELDS = {"kind", "title", "ask", "text", "choices", "then"}


def poster(name: str, prompt: str, job: str, tasks: str = "", models: Path = ROOT / "models") -> str:
    """The element, around a picture of the head with this job on the prompt, with the tasks that a page writes in YAML.

    Raises: ValueError for a job that no head has, or for a task with other fields than its kind.
    """
    layer, head = head_for(models / name, job)
    told = [checked(task, models / name) for task in yaml.safe_load(tasks) or []]
    opening = (
        f'<live-transformer model="{name}" prompt="{html.escape(prompt)}" head="{layer + 1},{head + 1}" '
        f'tasks="{html.escape(json.dumps(told, ensure_ascii=False))}">'
    )
    return f"{opening}\n{picture(name, prompt, layer, head, models)}\n</live-transformer>"


def head_for(folder: Path, job: str) -> tuple[int, int]:
    """Layer and head, counted from 0. Raises: ValueError for a job that no head has."""
    names = json.loads((folder / "heads.json").read_text(encoding="utf-8"))
    found = {one["name"]: (m, h) for m, row in enumerate(names) for h, one in enumerate(row)}
    if job not in found:
        raise ValueError(f"no head of {folder.name} is called {job!r}; there are {', '.join(sorted(found))}")
    return found[job]


def checked(task: dict, folder: Path) -> dict:
    """A task for the element, whose head is told by layer and number. Raises: ValueError for fields that do not fit."""
    kind = str(task.get("kind"))
    wanted = FIELDS | KINDS.get(kind, set())
    if kind not in KINDS or set(task) != wanted:
        raise ValueError(
            f"a task has the fields {sorted(task)}, expected {sorted(wanted)}, kind one of {', '.join(KINDS)}"
        )
    choices = [{"value": value, "text": text} for value, text in task["choices"].items()]
    head = {"head": head_for(folder, task["head"])} if "head" in task else {}
    return {**task, "choices": choices, **head}


def picture(name: str, prompt: str, layer: int, head: int, models: Path) -> str:
    """The text with the weights of its last token, the map of the head, and bars; without blank lines."""
    weights, tokens = weights_of(name, prompt, layer, head, models)
    last = weights[-1]
    chips = "".join(
        f'<span style="--w:{weight:.2f}">{html.escape(spell(token))}</span>'
        for token, weight in zip(tokens, last, strict=True)
    )
    most = max(range(len(tokens)), key=last.__getitem__)
    best = likeliest(name, prompt, models)[:BARS]
    rows = "".join(
        f'<li><code>{html.escape(token)}</code><i style="width:{BAR * p / best[0][1]:.0f}%"></i>{100 * p:.0f} %</li>'
        for token, p in best
    )
    caption = (
        f"One head at work: “{tokens[-1].strip()}” looks back, and gives “{tokens[most].strip()}” "
        f"{100 * last[most]:.0f} % of its weight. What comes next?"
    )
    return "\n".join(
        (
            '<div class="live-poster">',
            f'<p class="live-chips" aria-hidden="true">{chips}<b></b></p>',
            '<p class="live-signs" aria-hidden="true">¶ is the start of the text, ␣ a space.</p>',
            f'<div class="live-pair">{attention_map(weights)}<ol>{rows}</ol></div>',
            f"<p>{html.escape(caption)}</p>",
            "</div>",
        )
    )


def weights_of(name: str, prompt: str, layer: int, head: int, models: Path) -> tuple[list[list[float]], list[str]]:
    """How much each token looks at each, a row for a token that looks, and the tokens."""
    import torch
    from clearbook.attention_maps import attention_weights

    model, tokenizer = load_live_model(models / name)
    ids = tokenizer.encode(prompt)
    found = attention_weights(model, torch.tensor([[model.config.n_vocab - 1, *ids]]))
    return [*found.values()][layer][0, head].tolist(), ["¶", *(tokenizer.decode([i]) for i in ids)]


def attention_map(weights: list[list[float]]) -> str:
    """A column for each token that looks; the last one is lit."""
    n = len(weights)
    cells = "".join(
        f'<rect class="{"lit" if column == n - 1 else "dim"}" x="{CELL * column}" y="{CELL * row}" '
        f'width="{CELL}" height="{CELL}" fill-opacity="{weights[column][row] ** 0.5:.2f}"/>'
        for column in range(n)
        for row in range(column + 1)
    )
    side = CELL * n
    frame = f'<rect class="frame" x="{side - CELL}" y="0" width="{CELL}" height="{side}"/>'
    return f'<svg viewBox="-1 -1 {side + 2} {side + 2}" aria-hidden="true">{cells}{frame}</svg>'

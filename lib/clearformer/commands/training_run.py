"""``python -m clearformer train FILE.txt``: from a text to a folder with a model that writes like it."""

import contextlib
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from clearformer import checkpoint
from clearformer.commands import corpus, report, settings
from clearformer.commands.devices import find_device, own_device
from clearformer.commands.interrupt import Interrupt
from clearformer.commands.start import Start, continue_from, fresh_start
from clearformer.losses import next_token_loss, surprisal
from clearformer.parallel import join_processes, wait_for_all
from clearformer.pretrained import save_pretrained
from clearformer.training import train

OF_THE_MODEL = ("width", "layers", "heads", "vocabulary")  # which old weights bring along
OF_THE_LOOP = ("context", "batch", "accumulate", "rate", "steps", "precision", "seed")
STOPPING = "Stopping after this step, to save what was learned.\nCtrl-C once more gives up the last steps."


def run(options: Namespace) -> int:
    """Train, or go on; the exit code is that of a program that was stopped if Ctrl-C came.

    Under ``torchrun`` every process learns from rows of its own; the first one alone speaks, and writes the folder.
    """
    device = _device(options)
    with join_processes(device.type) as (rank, n_processes), _speaking(rank == 0):
        return _run(options, device, rank, n_processes)


def _run(options: Namespace, device: torch.device, rank: int, n_processes: int) -> int:
    text, folder = corpus.read_text(Path(options.text)), _folder(options)
    chosen = settings.settle(folder, _given(options, text), _defaults(options, text))
    n_before = settings.progress(folder)[0] if checkpoint.has_checkpoint(folder) else 0
    report.say("Learning byte pairs and counting ..." if not n_before else "Reading the run ...")
    start = _start(chosen, text, folder)
    learned, held_out = corpus.as_ids(text, start.tokenizer, start.end, chosen.context)
    table = corpus.counted_bits(text)
    wait_for_all()  # until each has seen the folder as it was
    if rank == 0:
        settings.write(folder, chosen)
        start.write_tokenizer(folder)
    start.model.to(device)
    with Interrupt(STOPPING) as interrupt:
        told = report.Report(chosen, start, partial(bits_per_character, held_out, len(text.held_out)), interrupt)
        told.n_processes = n_processes
        told.begin(text, len(learned), table, n_before)
        history = train(
            start.compiled() if options.compile else start.model,
            next_token_loss,
            partial(windows, learned, chosen.context),
            chosen.training(),
            evaluate=told.evaluate,
            after_step=told.after_step,
            folder=folder,
            resume=checkpoint.has_checkpoint(folder),
            tokens_per_row=chosen.context,
            progress=sys.stderr.isatty(),
        )
        if rank == 0:
            save_pretrained(start.model.cpu(), folder)
    stopped = interrupt.came and len(history.losses) < chosen.steps
    launcher = f"torchrun --standalone --nproc-per-node {n_processes}" if n_processes > 1 else "python"
    command = f"{launcher} -m clearformer train {report.quoted(options.text)}"
    command += f" --out {report.quoted(options.out)}" if options.out else ""
    report.say("\n" + report.last_words(folder, command, len(history.losses), chosen, stopped=stopped))
    return 130 if stopped else 0


@contextlib.contextmanager
def _speaking(aloud: bool) -> Iterator[None]:
    """Within, what is printed is seen, or (not ``aloud``) is not."""
    if aloud:
        yield
    else:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            yield


def windows(ids: Tensor, length: int, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``n`` windows from random places of a text: what is read, and what comes next."""
    starts = torch.randint(len(ids) - length, (n, 1), generator=generator)
    rows = ids[starts + torch.arange(length + 1)]
    return rows[:, :-1], rows[:, 1:]


def bits_per_character(ids: Tensor, n_characters: int, model: nn.Module) -> float:
    """How surprised the model is at a text, in windows that do not overlap."""
    device = next(model.parameters()).device
    return surprisal(model, ids.to(device), stride=model.config.n_positions).sum().item() / n_characters


def _start(chosen: settings.Settings, text: corpus.Text, folder: Path) -> Start:
    return fresh_start(chosen, text, folder) if chosen.start is None else continue_from(chosen)


def _folder(options: Namespace) -> Path:
    return Path(options.out) if options.out else Path(f"{Path(options.text).stem}-model")


def _device(options: Namespace) -> torch.device:
    device = find_device("train", options.device)
    if options.precision == "bfloat16" and device.type != "cuda":
        raise ValueError(f"train: --precision bfloat16 on {device}, expected a CUDA GPU. Leave it out.")
    return own_device(device)


def _given(options: Namespace, text: corpus.Text) -> dict:
    """What was typed, and the text as it is now; None for what was not."""
    given = {name: getattr(options, name) for name in (*OF_THE_MODEL, *OF_THE_LOOP, "start")}
    typed = [f"--{name}" for name in OF_THE_MODEL if given[name] is not None]
    if options.start and typed:
        raise ValueError(f"train: {', '.join(typed)} with --from, which brings its own sizes. Leave them out.")
    return given | {"text": text.name, "checksum": text.checksum}


def _defaults(options: Namespace, text: corpus.Text) -> dict:
    """The values of what is left out in a run that begins."""
    loop = {"context": 128, "batch": 8, "accumulate": 1, "steps": 1000, "precision": "auto", "seed": 0}
    if options.start:
        return loop | dict.fromkeys(OF_THE_MODEL) | {"rate": 3e-4}
    vocabulary = 512 if len(text.learned) < settings.SHORT_TEXT else 1024
    sizes = {"width": 128, "layers": 4, "heads": 4, "vocabulary": vocabulary}
    return loop | sizes | {"rate": 3e-3, "start": None}

"""What a run of ``train`` says: lines that stay, above its progress bar where there is a terminal."""

import math
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from tqdm import tqdm

from clearformer.commands.corpus import Text
from clearformer.commands.interrupt import Interrupt
from clearformer.commands.settings import Settings
from clearformer.commands.start import Start
from clearformer.generation import generate
from clearformer.parallel import of_the_first

WIDTH = 78
SAMPLE_TOKENS = 60
SAMPLE_EVERY = 4  # evaluations
AGREE_EVERY = 10  # steps after which several processes ask the first one whether the run should stop


class Report:
    """What ``train`` calls while it runs: ``evaluate`` on the model, ``after_step`` behind each step."""

    def __init__(self, chosen: Settings, start: Start, bits: Callable[[nn.Module], float], interrupt: Interrupt):
        self.chosen, self.start, self.bits, self.interrupt = chosen, start, bits, interrupt
        self.held_out = self.table = math.nan
        self.characters_per_token = 1.0
        self.losses: list[float] = []
        self.n_lines, self.n_processes = 0, 1

    def begin(self, text: Text, n_tokens: int, table: float, n_done: int) -> None:
        """What is learned, with what, and how far counting comes."""
        n_learned, n_held_out = len(text.learned), len(text.held_out)
        self.table, self.characters_per_token = table, n_learned / n_tokens
        n_weights, device = count(self.start.model), self.start.model.tokens.weight.device
        say(f"{text.name}: {n_learned + n_held_out:,} characters, of which the last {n_held_out:,} are held out.")
        say(f"To learn from: {n_tokens:,} tokens of {self.characters_per_token:.1f} characters each.")
        where = f"{device} in {self.n_processes} processes" if self.n_processes > 1 else str(device)
        say(f"A decoder with {n_weights:,} weights learns in {self.chosen.steps:,} steps on the device {where}.")
        say(f"A table that counted runs of up to 5 characters needs {table:.2f} bits for a held-out character.")
        say(f"It goes on after step {n_done:,}.\n" if n_done else "")

    def evaluate(self, model: nn.Module) -> float:
        self.held_out = self.bits(model)
        return self.held_out

    def after_step(self, n_done: int, loss: float) -> bool:
        """A line after each evaluation, now and then a sample; True if somebody wants the run to stop."""
        self.losses.append(loss)
        if n_done % self.chosen.every == 0 or n_done == self.chosen.steps:
            self._tell(n_done)
        if self.n_processes == 1:
            return self.interrupt.came
        return n_done % AGREE_EVERY == 0 and of_the_first([int(self.interrupt.came)]) == [1]

    def _tell(self, n_done: int) -> None:
        learned = sum(self.losses) / len(self.losses) / math.log(2) / self.characters_per_token
        self.losses = []
        say(evaluation_line(f"{n_done:>{len(str(self.chosen.steps))}}", learned, self.held_out, self.table))
        self.n_lines += 1
        if self.n_lines % SAMPLE_EVERY == 0 or n_done == self.chosen.steps:
            say(as_paragraphs(sample(self.start, self.chosen.seed)))


def say(line: str = "") -> None:
    """A line above the progress bar, at once, also where it goes to a file."""
    tqdm.write(line, file=sys.stdout)
    sys.stdout.flush()


def evaluation_line(step: str, learned: float, held_out: float, table: float) -> str:
    """How a step did, in bits a character: on what it learns from, on what is held out, and against counting."""
    verdict = ", beats the table" if held_out < table else ""
    return f"step {step}: {learned:.2f} bits a character while learning, {held_out:.2f} held out{verdict}"


def sample(start: Start, seed: int) -> str:
    """What the model writes at the beginning of a line."""
    device = start.model.tokens.weight.device
    prompt = torch.tensor([start.tokenizer.encode("\n")], device=device)
    n_tokens = min(SAMPLE_TOKENS, start.model.config.n_positions - prompt.shape[1])
    generator = torch.Generator(device).manual_seed(seed)
    [ids] = generate(start.model, prompt, n_tokens, temperature=0.8, top_p=0.95, stop=start.end, generator=generator)
    written = ids[prompt.shape[1] :].tolist()
    return start.tokenizer.decode([i for i in written if i != start.end])


def as_paragraphs(text: str) -> str:
    """A text in lines that fit, further in than the rest; a blank line stays where it was."""
    filled = (textwrap.fill(paragraph, WIDTH - 4) for paragraph in text.strip().split("\n\n"))
    return textwrap.indent("\n\n".join(filled), "    ")


def count(model: nn.Module) -> int:
    """How many weights a model has, a tied one once."""
    return sum(p.numel() for p in model.parameters())


def last_words(folder: Path, command: str, n_done: int, chosen: Settings, *, stopped: bool) -> str:
    """Where the model is, and how to go on."""
    chat = f"Talk with it: python -m clearformer chat {quoted(folder)}"
    if stopped:
        return f"Stopped after step {n_done:,} of {chosen.steps:,}; all is saved in {folder}.\nGo on: {command}\n{chat}"
    longer = f"{command} --steps {2 * chosen.steps}"
    return f"The model is in {folder}.\n{chat}\nTrain it longer: {longer}"


def quoted(path: Path | str) -> str:
    """A path as it is typed, in PowerShell as well as in a shell of Unix."""
    text = str(path)
    plain = all(c.isalnum() or c in "/\\._-:~" for c in text)
    return text if plain else f'"{text}"'

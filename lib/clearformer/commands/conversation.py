"""``python -m clearformer chat FOLDER``: a line is read, the answer comes token by token, and so on."""

import contextlib
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import torch

from clearformer.chat import ChatTemplate, load_chat_template
from clearformer.commands.devices import find_device
from clearformer.commands.folders import find_folder, lacking
from clearformer.generation import prepare_for_generation, stream_tokens
from clearformer.models.gpt import GPT
from clearformer.pretrained import from_pretrained, load_tokenizer
from clearformer.pretrained.convert import is_headless
from clearformer.text import stream_text
from clearformer.tokenizers import BytePairTokenizer
from clearformer.weight_files import read_object

N_SINKS = 4  # first tokens that are kept where a text outgrows the context
TOP_P = 0.95
PROMPT = "> "


def run(options: Namespace) -> int:
    """Read lines and answer until they end."""
    folder = find_folder("chat", options.folder)
    if reason := lacking(folder):
        raise ValueError(f"chat: {reason}")
    writer = Writer(folder, options)
    template = _template(folder)
    if options.system and template is None:
        raise ValueError(f"chat: --system, but {folder} has no chat template to put it in. Leave it out.")
    talk = WritesOn(writer) if template is None else Answers(writer, template, options.system)
    print(f"{folder} on {writer.device}. {talk.said} Ctrl-D ends.", file=sys.stderr)
    for line in _lines():
        with contextlib.suppress(KeyboardInterrupt):  # stops the answer, and no more
            for piece in talk.reply(line):
                print(piece, end="", flush=True)
        print(flush=True)
    return 0


def _lines() -> Iterator[str]:
    """What is typed, or comes through a pipe, up to its end or Ctrl-C."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    terminal = sys.stdin.isatty()
    if terminal:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401, lets input edit and repeat lines
    while True:
        try:
            yield input(PROMPT if terminal else "")
        except (EOFError, KeyboardInterrupt):
            if terminal:
                print()
            return


class Writer:
    """A model that writes with the options of the command."""

    def __init__(self, folder: Path, options: Namespace):
        self.device = find_device("chat", options.device)
        dtype = torch.float32 if self.device.type == "cpu" else None  # half precision is slow there
        model = from_pretrained(folder, dtype=dtype)
        if not isinstance(model, GPT) or is_headless(model):
            raise ValueError(
                f"chat: {folder} is a {type(model).__name__} that writes no text, expected a decoder with a head, such "
                "as GPT-2, Llama or Qwen."
            )
        self.tokenizer: BytePairTokenizer = load_tokenizer(folder)
        self.model = prepare_for_generation(model.to(self.device))
        self.stops = _stops(folder, model, self.tokenizer)
        self.generator = torch.Generator(self.device)
        self.seed = self.generator.seed() if options.seed is None else self.generator.manual_seed(options.seed)
        self.n_tokens, n_positions = options.tokens, model.config.n_positions
        self.rolls = model.positions is None
        self.n_prompt = max(1, n_positions - min(options.tokens, n_positions // 2))  # what of a text it can see
        self.choice = {"temperature": options.temperature}
        if options.temperature:
            p = options.top_p or (None if options.top_k else TOP_P)
            self.choice |= {"top_k": options.top_k, "top_p": p}
        elif options.top_k or options.top_p:
            raise ValueError("chat: --top-k and --top-p do nothing at --temperature 0. Leave them out.")

    def write(self, ids: list[int]) -> Iterator[str]:
        """The text that follows, in pieces, without the token that ends it; of ``ids`` the last ones count."""
        ids = ids[-self.n_prompt :]
        room = self.model.config.n_positions - len(ids)
        n_sinks = N_SINKS if self.rolls and self.n_tokens > room > N_SINKS else None
        tokens = stream_tokens(
            self.model,
            torch.tensor([ids], device=self.device),
            self.n_tokens if n_sinks else min(self.n_tokens, room),
            stop=self.stops or None,
            n_sinks=n_sinks,
            generator=self.generator,
            **self.choice,
        )
        return stream_text(self.tokenizer, (token for token in tokens if token.item() not in self.stops))


class WritesOn:
    """A model that only learned to go on with a text."""

    said = "It writes on from what you type; an empty line lets it write more."

    def __init__(self, writer: Writer):
        self.writer, self.text = writer, ""

    def reply(self, line: str) -> Iterator[str]:
        """The text after ``line``, which begins a new one, or after all so far for an empty line."""
        self.text = line or self.text or "\n"
        for piece in self.writer.write(self.writer.tokenizer.encode(self.text, allow_special=False)):
            self.text += piece
            yield piece


class Answers:
    """A model that was taught to answer, by its template; what no longer fits is forgotten, the oldest first."""

    said = "It answers; it knows what was said before."

    def __init__(self, writer: Writer, template: ChatTemplate, system: str | None):
        self.writer, self.template = writer, template
        self.first = [{"role": "system", "content": system}] if system else []
        self.turns: list[dict[str, str]] = []

    def reply(self, line: str) -> Iterator[str]:
        self.turns.append({"role": "user", "content": line})
        answer = ""
        try:
            for piece in self.writer.write(self._fitting()):
                answer += piece
                yield piece
        finally:
            self.turns.append({"role": "assistant", "content": answer})

    def _fitting(self) -> list[int]:
        """The ids of the conversation, without its oldest turns where all would not fit."""
        while True:
            ids = self.template.encode(self.writer.tokenizer, [*self.first, *self.turns])
            if len(ids) <= self.writer.n_prompt or len(self.turns) == 1:
                return ids
            del self.turns[:2]


def _template(folder: Path) -> ChatTemplate | None:
    try:
        return load_chat_template(folder)
    except FileNotFoundError:
        return None


def _stops(folder: Path, model: GPT, tokenizer: BytePairTokenizer) -> list[int]:
    """The tokens that end a text, by all files that name some."""
    named: list = [model.labels_and_tokens.get("eos_token_id")]
    for name, option in (("generation_config.json", "eos_token_id"), ("tokenizer_config.json", "eos_token")):
        if (folder / name).is_file():
            named.append(read_object("chat", folder / name).get(option))
    found = []
    for value in (v for several in named for v in (several if isinstance(several, list) else [several])):
        value = value.get("content") if isinstance(value, dict) else value
        value = tokenizer.special.get(value) if isinstance(value, str) else value
        if type(value) is int and 0 <= value < model.config.n_vocab:
            found.append(value)
    return [*dict.fromkeys(found)]

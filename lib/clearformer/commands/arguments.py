"""What can be typed behind ``python -m clearformer``. An option that is not typed is None: its value comes later."""

import argparse
import math
from collections.abc import Callable

TRAIN = """Learn to write like a text: byte pairs first, then a decoder. The folder holds a model that chat opens, and
transformers as well. The same command goes on where a run was stopped; options left out are then those of the run."""
CHAT = """Talk with a model, or let it write on from what you type if it was never taught to answer.
Ctrl-C stops an answer; Ctrl-D, or Ctrl-C while it waits, ends."""
INFO = "What a folder holds: the kind of model, its weights, the memory they take, and what one token costs."


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """The command and its options, from ``words`` or the command line. Raises: SystemExit, after a sentence or help."""
    parser = argparse.ArgumentParser("python -m clearformer", description="Train a transformer, and talk with it.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="train | chat | info")
    _add_train(commands.add_parser("train", help="learn from a text file", description=TRAIN))
    _add_chat(commands.add_parser("chat", help="talk with a model", description=CHAT))
    info = commands.add_parser("info", help="what a folder holds", description=INFO)
    info.add_argument("folder", metavar="FOLDER")
    return parser.parse_args(words)


def _add_train(train: argparse.ArgumentParser) -> None:
    train.add_argument("text", metavar="FILE.txt", help="what to learn from, in UTF-8; its last tenth is held out")
    train.add_argument("--out", metavar="FOLDER", help="where the model goes (default: FILE-model)")
    train.add_argument("--from", dest="start", metavar="FOLDER", help="begin with the weights of this model")
    whole, real = _number(int, 1), _number(float, 0, open_below=True)
    for name, default, what in (
        ("steps", "1000", "updates of the weights; more make a finished run longer"),
        ("width", "128", "numbers in a vector of the residual stream"),
        ("layers", "4", "blocks"),
        ("heads", "4", "heads in each attention; they divide the width"),
        ("context", "128", "tokens it sees at once"),
        ("batch", "8", "windows of text that are in memory at once"),
        ("accumulate", "1", "batches for each step"),
        ("vocabulary", "1024, of a short text 512", "pieces of text with a number: 256 bytes, byte pairs, the end"),
    ):
        train.add_argument(f"--{name}", type=whole, metavar="N", help=f"{what} (default: {default})")
    train.add_argument(
        "--rate", type=real, metavar="X", help="largest learning rate (default: 0.003; from weights 0.0003)"
    )
    train.add_argument("--seed", type=_number(int, 0), metavar="N", help="of weights, data and samples (default: 0)")
    train.add_argument("--precision", choices=["auto", "float32", "bfloat16"], help="auto: bfloat16 on a CUDA GPU")
    train.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda or mps (default: auto)")
    train.add_argument(
        "--compile", action="store_true", help="let torch.compile make it faster; the start takes longer"
    )


def _add_chat(chat: argparse.ArgumentParser) -> None:
    chat.add_argument("folder", metavar="FOLDER", help="of a run of train, or as from_pretrained loads it")
    chat.add_argument(
        "--temperature", type=_number(float, 0), default=0.8, metavar="X", help="0: the likeliest (default: 0.8)"
    )
    chat.add_argument(
        "--top-p",
        type=_number(float, 0, open_below=True),
        metavar="P",
        help="draw from the likeliest that hold this share (default: 0.95)",
    )
    chat.add_argument("--top-k", type=_number(int, 1), metavar="K", help="draw from the K likeliest")
    chat.add_argument(
        "--tokens", type=_number(int, 1), default=200, metavar="N", help="of an answer, at most (default: 200)"
    )
    chat.add_argument("--system", metavar="TEXT", help="what the model is told before the conversation")
    chat.add_argument("--seed", type=_number(int, 0), metavar="N", help="the same answers each time (default: others)")
    chat.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu, cuda or mps (default: auto)")


def _number(kind: type, least: int | float, *, open_below: bool = False) -> Callable[[str], int | float]:
    """What argparse calls with the text of an option."""
    what = "a whole number" if kind is int else "a number"
    expected = f"{what} above {least}" if open_below else f"{what} from {least} on"

    def read(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < least or (open_below and value == least):
            raise argparse.ArgumentTypeError(f"{text!r}, expected {expected}")
        return value

    return read

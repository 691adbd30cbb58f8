"""Where the translator of chapter 11 looks while it writes a number and a sentence, for the picture in chapter 2.

.venv/bin/python -m tools.models.alignment     trains it with the page's own code and writes models/translator
"""

import json

import torch
from torch import Tensor

from tools import ROOT
from tools.models.loop import write

PAGE = ROOT / "chapters" / "11-translation.ipynb"
TARGET = ROOT / "models" / "translator" / "alignment.json"
TEXTS = ("setup", "data", "pieces-learned", "tokens", "batches-padded")
MODEL = ("own-transformer",)
TRAINING = ("loss-by-hand", "training-loop", "train-first")
HEADS = ("heads", "heads-scored", "heads-chosen")
LANGUAGE = "de"
NUMBER = 276
SENTENCE = "She read the book on September 9, 1965.", "Sie hat das Buch am 9. September 1965 gelesen."


def page_code(ids: tuple[str, ...]) -> dict:
    """What cells of the page define, run in the order of the page."""
    names: dict = {}
    for cell in json.loads(PAGE.read_text(encoding="utf-8"))["cells"]:
        if cell["id"] in ids:
            exec(compile("".join(cell["source"]), f"{PAGE.name}, {cell['id']}", "exec"), names)
    return names


def looks(names: dict, english: str, wanted: str) -> dict:
    """The pieces that are read and written, and the weights of every head, H × N × S.

    Raises: ValueError where the model would write something else.
    """
    source, target = torch.tensor([names["source_row"](english, LANGUAGE)]), torch.tensor([names["target_row"](wanted)])
    written = names["model"].eval()(source, target[:, :-1]).argmax(dim=-1)
    if not torch.equal(written, target[:, 1:]):
        raise ValueError(f"The translator does not write {wanted!r} for {english!r}; choose another text.")
    weights: Tensor = names["cross_weights"](names["model"], source, target)[0]
    pieces = names["vocabulary"]
    return {
        "read": [pieces[i].strip() for i in source[0]],
        "written": [pieces[i].strip() for i in written[0]],
        "weights": [[" ".join(f"{w:.3f}" for w in row) for row in head] for head in weights.tolist()],
    }


def alignment(names: dict) -> dict:
    """The number in the head that aligns numbers best, as the page chooses it, and the sentence in all heads."""
    number = looks(names, names["number_words"](NUMBER, "en"), names["number_words"](NUMBER, LANGUAGE))
    number["weights"] = number["weights"][names["best"]]
    return {"number": number, "sentence": looks(names, *SENTENCE)}


def main() -> None:
    torch.set_num_threads(1)
    TARGET.parent.mkdir(exist_ok=True)
    write(TARGET, alignment(page_code((*TEXTS, *MODEL, *TRAINING, *HEADS))))


if __name__ == "__main__":
    main()

"""The texts on which the heads of the Austen model are operated, and how much a click loads."""

from functools import cache

from tools import ROOT
from tools.extension.live_transformer import weights_script

MODEL = ROOT / "models" / "austen"
ONE_NAME = "That day Emma went home, because she"
TWO_NAMES = "When John came, Emma went home, because she"
DONOR = ONE_NAME.replace("Emma", "John")
PAGE = (  # Persuasion, chapter 18
    "While Admiral Croft was taking this walk with Anne, and expressing his wish of getting Captain Wentworth to Bath, "
    "Captain Wentworth was already on his way thither. Before Mrs Croft had written, he was arrived, and the very next "
    "time Anne walked out, she saw him."
)


@cache
def data() -> dict:
    size = len(weights_script(MODEL))
    return {"find": ONE_NAME, "paint": TWO_NAMES, "donor": DONOR, "page": PAGE, "megabytes": round(size / 1e6, 1)}

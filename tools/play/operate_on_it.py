"""The texts on which the heads of the Austen model are operated, and how much a click loads."""

from functools import cache

from tools import ROOT
from tools.extension.live_transformer import weights_script

MODEL = ROOT / "models" / "austen"
ONE_NAME = "That day Emma went home, because she"
TWO_NAMES = "When John came, Emma went home, because she"
DONOR = ONE_NAME.replace("Emma", "John")
PAGE = (  # Emma, among the last tenth, which was held out of the training
    "Emma felt that she could not do better than go home directly. In all probability she was at this very time "
    "waited for there; and Mr. Knightley might be preserved from sinking deeper in aggression towards Mr. Elton, if "
    "not towards William Larkins."
)


@cache
def data() -> dict:
    size = len(weights_script(MODEL))
    return {"find": ONE_NAME, "paint": TWO_NAMES, "donor": DONOR, "page": PAGE, "megabytes": round(size / 1e6, 1)}

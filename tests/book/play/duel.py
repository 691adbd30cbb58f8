"""The element with which a reader bets against the model, and what it shows."""

NAME = "you-against-the-model"
KEY = f"clearformer-play-{NAME}"
N_TOKENS = 40
PLAYERS = ("you", "trigram", "model")
EMPTY = {"chips": {}, "typed": [], "other": 0, "allIn": False}


def number(text: str) -> float:
    return float(text.replace("∞", "inf").replace("−", "-"))


class Duel:
    """The element, and what it shows."""

    def __init__(self, element):
        self.element, self.page = element, element.page

    def value(self, name: str) -> str:
        return self.element.locator(f'[data-value="{name}"]').first.inner_text()

    def control(self, name: str):
        return self.element.locator(f"[data-control={name}]")

    def guess(self, n: int = 2):
        self.control("guess").nth(n).click()
        return self

    def press(self, keys: str):
        for key in keys:
            self.page.keyboard.press(key)

    def uncover(self, times: int = 1):
        for _ in range(times):
            self.control("uncover").press("Enter")

    @property
    def says(self) -> str:
        return self.element.locator(".says").inner_text()

    @property
    def won(self) -> str:
        return self.element.locator(".won").inner_text()

    def offered(self) -> list[int]:
        options = self.control("lay").evaluate_all("all => all.map((e) => e.dataset.option)")
        return [int(it) for it in options if it != "other"]

    def rates(self, player: str) -> list[float]:
        return [number(self.value(f"{player}-{rate}")) for rate in ("token", "character", "perplexity")]

"""What the site makes of the quizzes ("Check yourself") in the sources.

In a source a question is a paragraph and, below it, one <details class="quiz"> for each option. The site puts the
options of a question into one group with a name of its own, shuffles them, marks each as right or wrong for the style
sheet and tools/site/reader.js, and folds the cells that compute the answers.
"""

import hashlib
import json
import random
import re
from collections import Counter

OPTION = re.compile(r'<details class="quiz">(.*?)</details>', re.S)
OPTIONS = re.compile(r'(?:<details class="quiz">.*?</details>\s*)+', re.S)
FOLDED = "Show the calculation behind these answers"


class Places:
    """Which place the right option of the next question gets: one that has been right least often on the page.

    Which one of several is drawn, with the name of the page as the seed: the next build gives the same.
    """

    def __init__(self, page: str):
        self.draw = random.Random(page)
        self.used: Counter[int] = Counter()

    def next_place(self, n_options: int) -> int:
        fewest = min(self.used[place] for place in range(n_options))
        place = self.draw.choice([place for place in range(n_options) if self.used[place] == fewest])
        self.used[place] += 1
        return place


def with_groups(text: str, page: str, places: Places) -> str:
    """The markdown of one cell or page, with the options of each question shuffled and grouped."""

    def group(match: re.Match) -> str:
        question = question_above(match)
        number = re.match(r"\**(\d+)\.", question)
        name = hashlib.sha256(f"{page} {question}".encode()).hexdigest()[:8]
        label = f"Answers to question {number[1]}" if number else "Answers"
        options = in_place(OPTION.findall(match[0]), places)
        blocks = (f'<details class="quiz" data-answer="{answer(option)}">{option}</details>' for option in options)
        names = f'data-quiz-page="{page}" data-question="{name}" role="group" aria-label="{label}"'
        return "\n\n".join([f'<div class="quiz-question" {names}>', *blocks, "</div>\n\n"])

    return OPTIONS.sub(group, text)


def question_above(options: re.Match) -> str:
    """The paragraph that the options answer."""
    return options.string[: options.start()].rstrip().rsplit("\n\n", 1)[-1]


class QuizProblem(ValueError):
    """A quiz that cannot be answered."""


def answer(option: str) -> str:
    return "right" if "**Right" in option else "wrong"


def in_place(options: list[str], places: Places) -> list[str]:
    """The options with the right one in its place; the others keep their order."""
    right = [option for option in options if answer(option) == "right"]
    others = [option for option in options if answer(option) == "wrong"]
    if len(right) != 1:
        raise QuizProblem(
            f"A question has {len(right)} right options of {len(options)}, expected one: begin its explanation with "
            f"**Right. The first option is {options[0][:80]!r}."
        )
    others.insert(places.next_place(len(options)), right[0])
    return others


def prepare_notebook(source: str, page: str) -> str:
    """The JSON of a notebook with its quizzes prepared; any other notebook comes back as it is."""
    if "quiz" not in source:
        return source
    notebook, places, in_quiz = json.loads(source), Places(page), False
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            behind = OPTIONS.split(text)
            in_quiz = len(behind) > 1 and not behind[-1].strip()  # text behind the options is about something else
            if len(behind) > 1:
                cell["source"] = with_groups(text, page, places)
        elif in_quiz:
            fold(cell)
    return json.dumps(notebook, ensure_ascii=False)


def fold(cell: dict) -> None:
    """Nothing of a cell is seen before the reader opens it, neither its code nor what it prints."""
    metadata = cell["metadata"]
    tags = [tag for tag in metadata.get("tags", []) if tag not in ("hide-input", "hide-output", "hide-cell")]
    if "remove-cell" not in tags:
        metadata["tags"] = [*tags, "hide-cell"]
        metadata["mystnb"] = {**metadata.get("mystnb", {}), "code_prompt_show": FOLDED}


def prepare_quizzes(app, docname, source) -> None:
    """Hook of Sphinx ("source-read")."""
    if str(app.env.doc2path(docname)).endswith(".ipynb"):
        source[0] = prepare_notebook(source[0], docname)
    elif 'class="quiz"' in source[0]:
        source[0] = with_groups(source[0], docname, Places(docname))


def setup(app):
    app.connect("source-read", prepare_quizzes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

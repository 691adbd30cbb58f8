"""The rule on words: no hint and no message recommends what a check of the question refuses."""

import re
from collections.abc import Iterator

from clearcheck.author.subject import Subject
from clearcheck.grading.question import Question

ADVISING = r"\b(?i:call|use|take|try|write|or)\s+(?:an?\s+|the\s+)?"
FINITE = re.compile(
    r"(?:large|huge|very|strongly) negative (?:number|score)|(?<![\w.])[-−](?:1e\d+|10\*\*\d+|10{3,}|1[\s,]000)(?!\w)"
)
HIDES = re.compile(r"mask|hid(?:e|den)|later token", re.IGNORECASE)


def advice(subject: Subject, question: Question) -> Iterator[str]:
    """A hint that names what is forbidden, a message that sends there, and a finite score for what is hidden."""
    names = {name.rpartition(".")[2] for name in question.forbids}
    for number, hint in enumerate(question.hints, 1):
        for name in sorted(names):
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", hint):
                yield f"hint {number} names {name}, which the question forbids."
        if HIDES.search(hint) and FINITE.search(hint):
            yield f"hint {number} names a finite score for what is hidden, which its checks refuse."
    for mistake in subject.wrong.of(question.id):
        for name in sorted(names):
            if re.search(rf"{ADVISING}`?(?:\w+\.)*{re.escape(name)}(?!\w)", mistake.says):
                yield f"what {mistake.name} is told recommends {name}, which the question forbids."

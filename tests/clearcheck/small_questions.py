"""A question of one check or a few, and what it makes of an answer."""

from clearcheck import Question, equals
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named


def question(*checks, **changes) -> Question:
    settings = {"id": "q", "title": "Q", "name": "answer", "minutes": 5, "difficulty": 1, "checks": checks, **changes}
    return Question(**settings)


def result_of(function, *checks, wrong=(), **changes):
    def transport(asked, packed):
        return call_named({"answer": function}, asked, packed)

    return evaluate(question(*checks, **changes), transport, 3, list(wrong))


def cases(rng):
    return [(rng.normal(size=5),), (rng.normal(size=7),)]


DOUBLE = equals("double", 2, cases, lambda x: 2 * x)

"""What would give an answer away, and a search for it in the text of a page.

**Lines.** Every line of code counts that stands in a right solution, the author's or another one, compared
without spaces and comments, wherever it stands in a text. Not counted is what says nothing: a line of less than 12
characters, `def`, an import, the head of a loop or an `except`, a bare `return y`, the unpacking of a shape. Names
are compared as they are: whoever publishes a solution with other names is not found.

**Values.** Five digits of one expected value in a learner's notebook; three neighbouring entries of an expected
result or of an argument, in their order and to the digits shown, three decimals or more and two digits that count,
in any text. Seeds 0 and 1, the draws of the proof; 0 is also that of `check`. Whole numbers and words are not looked
for: a chapter may say that something is 12.

**Seeds.** In a learner's notebook nothing may look like one; elsewhere no number may be handed to the grader as one.

**What a page may say.** A learner's notebook may hold nothing of this, and neither may a page of the book, with these
exceptions. The solution pages are there to tell. The source of the library, which the site publishes beside
its reference, is what the course teaches and shares lines with the answers. And a chapter that derives an equation
shows code for it, so some lines agree: each of them is named in ALLOWED with its page and what it does there, one
that is there no longer has to go, and no page may hold all lines of any one solution. So are the right lines of a
program that a notebook shows in order to have it repaired.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache

import numpy as np
from clearcheck.grading.evaluate import generator
from clearcheck.grading.question import _expected_result

from tests.exercises.course_exercises import SLUGS, SOLUTION, comparisons, course_exercise
from tests.exercises.many_lines import BEGINNING, Lines

TELLING = BEGINNING  # characters without spaces
PLAIN = re.compile(
    r'def|@|#|"""|super\(\)|import|from\w+import|return(np\.array\()?\w+\)?$|for.*:$|while\w*:$|except\w+:$|[\w,]+=\w+\.shape$'
    # what every module, every training loop and every hook has
    r"|\w+\.(backward|zero_grad|step|remove)\(\)$|\w+=torch\.optim\.\w+\(|(self\.\w+,?)+=[\w,.]+$|\w+=\w+\.shape\[-?\d\]$|self\.\w+=\w[\w.]*\(.*\)$"
    r"|class\w+\([\w.]+\):$|(self\.\w+,?)+=(nn\.\w+\([\w,.*]*\),?)+$|setattr\(|[\w,]+=\($|[qkv,]+=self\.query\("
    r"|withtorch\.no_grad\(\):$|(return)?\w+\.(eval|train)\(\)$|\w+\.append\($|if\w+isnotNone:$"
)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.(\d+)(?!\w)")
DIGITS = 5  # of one number that cannot agree by chance with the few of one exercise
KNOWN = ("0.044715",)  # from the tanh formula of GELU: among thousands of weights one agrees with it by chance
RUN, COARSE, VAGUE = 3, 0.001, 0.05  # of two decimals, or with one digit that counts, three in a row agree by chance
DRAWN = re.compile(r'<script type="application/json">.*?</script>', re.S)  # what an explorable shows
MANY = 10_000  # characters of it: among thousands of drawn numbers some runs agree by chance
SEEDS = range(2)
ANY_SEED = re.compile(r"seed|default_rng|np\.random|import random", re.I)
GRADER_SEED = re.compile(r"(?:--seed[ =]+|\b(?:check|progress|grade|prove)\([^)\n]*seed\s*=\s*)\d+")
STAYS = "a line of the program to repair that is right"
# What a reader brings along from the chapter that built it: a page that says "yours from chapter 4" may hold its lines.
BROUGHT_ALONG = {
    "chapters/04-multi-head": ("returnself.out(y.transpose(1,2).flatten(2))",),
    "chapters/06-position": (
        "half=x.shape[-1]//2",
        "a,b=x[...,:half],x[...,half:]",
        "cos,sin=angles.cos(),angles.sin()",
        "returntorch.cat([a*cos-b*sin,b*cos+a*sin],dim=-1)",
        "q,k=self.turn(q,positions),self.turn(k,positions)",
    ),
}
YOURS = re.compile(r"# yours from chapters? (\w+)")
ALLOWED = {
    "chapters/01-tokens": {
        "merges.append(best)": "byte pairs on the page, of characters; the questions ask for ids of bytes",
    },
    "chapters/04-multi-head": {
        "x=self.tokens(ids)": "the look-up of a model that is trained there",
        "returnself.out(y.transpose(1,2).flatten(2))": "the heads of the layer of the chapter joined, without a latent",
        "return(heads.flatten(-2),)": "the hook that silences one head of the shipped model, to see what the loss says",
    },
    "chapters/06-position": {
        "half=x.shape[-1]//2": "rotate, the function of the chapter",
        "a,b=x[...,:half],x[...,half:]": "rotate, the function of the chapter",
        "cos,sin=angles.cos(),angles.sin()": "rotate, the function of the chapter",
        "returntorch.cat([a*cos-b*sin,b*cos+a*sin],dim=-1)": "rotate, the function of the chapter",
        "q,k=self.turn(q,positions),self.turn(k,positions)": "the head of the chapter that turns its queries and keys",
    },
    "chapters/07-residual-norm": {
        "returnself.head(self.norm(x))": "the models that are trained there",
    },
    "chapters/closer/07-dropout": {
        "returnself.head(self.norm(x))": "the model that is trained there",
    },
    "chapters/09-language-model": {
        "returnrows[:,:-1],rows[:,1:]": "the batch of the chapter, from starts that it draws itself",
        "returnself.head(self.norm(x))": "the last line of the GPT of the chapter",
        "return(heads.flatten(-2),)": "the hook of the chapter, which silences one head; the worth is not there",
    },
    "chapters/10-images": {
        "x=torch.cat([first,x],dim=1)": "the class token in front, before the positions are added to both",
    },
    "chapters/closer/10-class-token": {
        "x=torch.cat([first,x],dim=1)": "the class token in front, in the model of chapter 10",
    },
    "chapters/11-translation": {
        "returnrows[:,:-1],rows[:,1:]": "the two rows of the decoder, of targets that are there already",
        "x=self.embed(ids)": "the decoder alone, whose embedding adds sinusoids",
        "returnself.head(self.norm(x))": "the last line of the decoder alone",
    },
    "chapters/12-pretrained": {
        "returntorch.cat([a*cos-b*sin,b*cos+a*sin],dim=-1)": "the decoder of chapter 8's file, which is typed there",
        "ids=torch.cat([ids,new],dim=1)": "greedy writing, without temperature, of the decoder of the file",
        'header.pop("__metadata__",None)': "what is no tensor, in the file read by hand",
        "forname,entryinheader.items()": "the entries of the header, in the file read by hand",
        '.reshape(entry["shape"])': "a tensor's shape, in the file read by hand",
    },
    "chapters/14-cost": {
        "returndq,dk,dv": "the way back of attention by tiles, which the chapter builds",
    },
    "chapters/16-todays-decoder": {
        "returnself.out(y.transpose(1,2).flatten(2))": "the last line of an attention in heads, as in chapter 4",
        "returnself.out(y)": "the last line of an attention in heads, behind its gate",
        "base=10000*stretch**(K/(K-2))": "the changed base of the chapter, in a function that makes tables",
    },
    "chapters/17-long-memory": {
        "scores=q@k.mT/q.shape[-1]**0.5": "the control of the chapter, which adds gates to the scores",
        "returnself.out(y.transpose(1,2).flatten(2))": "the last line of a layer in heads, without a latent",
        "S=alpha[n]*S": "the gated delta rule of the chapter, without outputs and without a state that is handed over",
    },
    "chapters/grading": {"--seed 4711": "an example of a teacher's own seed"},
    "chapters/instructor": {"--seed 4711": "an example of a teacher's own seed"},
    "chapters/08-encoder-decoder": {
        "rows=torch.randint(len(sources),(64,))": "of the loop built there",
        "returnself.out(y.transpose(1,2).flatten(2))": "of the attention built there, which has no latent",
        "longest=max(len(row)forrowinrows)": "the padding of the chapter, of lists of words",
    },
    "exercises/10-images": {
        "cells=images.reshape(B,C,rows//s,s,columns//s,s)": "the patches of an experiment",
    },
    "exercises/11-translation": {
        "W_q,W_k,W_v,W_o=maps": STAYS,
        "table=(asking@W_q)@np.swapaxes(asked@W_k,1,2)/np.sqrt(W_q.shape[1])": STAYS,
        "powers=np.exp(table-table.max(axis=2,keepdims=True))": STAYS,
        "returnpowers/powers.sum(axis=2,keepdims=True)@(asked@W_v)@W_o": STAYS,
        'memory=p["E"][source]+p["positions"][:source.shape[1]]': STAYS,
        'x=p["E"][read]+p["positions"][:read.shape[1]]': STAYS,
        'returnx@p["head"]': STAYS,
    },
    "exercises/17-long-memory": {
        "S,z,y=np.zeros((k.shape[1],v.shape[1])),np.zeros(k.shape[1]),np.zeros(v.shape)": STAYS,
        "S=S+np.outer(fk[n],v[n])": STAYS,
    },
}


@dataclass(frozen=True)
class Answer:
    """One right solution and those of its lines that count."""

    slug: str
    question: str
    name: str
    lines: tuple[str, ...]


def telling_lines(code: str) -> tuple[str, ...]:
    lines = ["".join(re.sub(r"(^|\s)# .*", "", line).split()) for line in code.splitlines()]
    return tuple(line for line in lines if len(line) >= TELLING and not PLAIN.match(line))


@cache
def answers() -> tuple[Answer, ...]:
    """Every right solution of every exercise."""
    found = []
    for slug in SLUGS:
        it = course_exercise(slug)
        for cell in it.source.cells:
            parts = [telling_lines(code) for code in SOLUTION.findall(cell.source)]
            found += [Answer(slug, cell.id, "the author's", lines) for lines in parts if lines or not any(parts)]
        found += [Answer(slug, one.question, one.name, telling_lines(one.source)) for one in it.right.entries]
    return tuple(found)


@cache
def told_by_a_line() -> Lines:
    return Lines(line for answer in answers() for line in answer.lines)


def leaked_lines(text: str) -> dict[str, str]:
    """Lines of solutions that stand in a text, each with the solution it belongs to."""
    found = told_by_a_line().lines_in("".join(text.split()))
    return {line: f"{it.slug}, {it.question}: {it.name}" for it in answers() for line in it.lines if line in found}


def whole_answers(lines: Set[str]) -> list[str]:
    """Solutions of which every line that counts is among these."""
    return [f"{it.slug}, {it.question}: {it.name}" for it in answers() if it.lines and lines >= set(it.lines)]


def entries(value) -> list[np.ndarray]:
    """The tables and numbers of a result, each as a row of floating-point numbers."""
    if isinstance(value, dict):
        return [row for entry in value.values() for row in entries(entry)]
    if isinstance(value, tuple | list):
        return [row for entry in value for row in entries(entry)]
    return [np.ravel(value)] if np.asarray(value).dtype.kind == "f" else []


@cache
def graded_values(slug: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The expected results and the arguments of every graded case, as rows of numbers."""
    expected, arguments = [], []
    for question in course_exercise(slug).exercise.questions:
        for check in comparisons(question):
            for seed in SEEDS:
                for args in check.cases(generator(question, check.name, seed)):
                    arguments += entries(args)
                    given = _expected_result(
                        check, question.call_request, question.call_request.arguments_to_send(args)
                    )
                    expected += entries(given)
    return expected, arguments


@cache
def runs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All entries, the places where a run of three neighbours begins, and the entries there, which are in order."""
    rows = [row for slug in SLUGS for kind in graded_values(slug) for row in kind if row.size >= RUN]
    table = np.concatenate(rows)
    ends = np.cumsum([row.size for row in rows])
    begin = np.delete(np.arange(len(table)), [ends - before for before in range(1, RUN)])
    begin = begin[np.argsort(table[begin])]
    return table, begin, table[begin]


def printed_numbers(text: str) -> list[tuple[float, float]]:
    """The numbers of a text with a decimal point, each with half a unit of its last digit."""
    return [(float(found[0]), 0.5001 * 10.0 ** -len(found[1])) for found in NUMBER.finditer(text)]


def leaked_runs(text: str) -> list[tuple[float, ...]]:
    numbers = printed_numbers(text)
    if len(numbers) < RUN:
        return []
    table, begin, firsts = runs()
    values, half = np.lib.stride_tricks.sliding_window_view(np.array(numbers), RUN, axis=0).swapaxes(0, 1)
    size = np.abs(values)
    coarse = (half > COARSE) | (half > VAGUE * size) | (values * 20 % 1 == 0)  # 0.5, 0.25 and the like come anywhere
    alike = (size == np.roll(size, 1, axis=1)).any(axis=1)
    telling = ~(coarse.any(axis=1) | alike)
    values, half = values[telling], half[telling]
    first, last = (np.searchsorted(firsts, values[:, 0] + sign * half[:, 0]) for sign in (-1, 1))
    near = last - first  # so many runs begin like each of the text's
    which = np.repeat(np.arange(len(near)), near)
    there = begin[np.arange(len(which)) + np.repeat(last - np.cumsum(near), near)]
    equal = (np.abs(table[there[:, None] + np.arange(RUN)] - values[which]) <= half[which]).all(axis=1)
    return [tuple(run) for run in values[np.unique(which[equal])].tolist()]


def leaked_values(text: str, slug: str) -> list[float]:
    """Numbers of five digits or more that are expected values of this exercise."""
    expected = np.sort(
        np.abs(np.concatenate([row for row in graded_values(slug)[0] if row.size] or [np.array([np.inf])]))
    )
    found = []
    for match in NUMBER.finditer(text):
        value, half = abs(float(match[0])), 0.5001 * 10.0 ** -len(match[1])
        if match[0] not in KNOWN and len(match[0].lstrip("-0.").replace(".", "")) >= DIGITS:
            first, last = np.searchsorted(expected, [value - half, value + half])
            found += [float(match[0])] if last > first else []
    return found


def in_a_notebook(text: str, slug: str) -> list[str]:
    """What a learner's notebook gives away, beyond the lines of a program to repair."""
    allowed = ALLOWED.get(f"exercises/{slug}", {})
    found = [f"{line!r} is a line of {owner}." for line, owner in leaked_lines(text).items() if line not in allowed]
    found += [f"{value} is an expected value." for value in leaked_values(text, slug)]
    found += [f"{run} stand side by side in a graded case." for run in leaked_runs(text)]
    return found + [f"{seed!r} may lead to the graded cases." for seed in ANY_SEED.findall(text)]


def on_a_page(text: str, page: str) -> list[str]:
    """What a page of the book gives away, beyond what is allowed."""
    brought = [line for lines in BROUGHT_ALONG.values() for line in lines] if YOURS.search(text) else []
    allowed, lines = {*ALLOWED.get(page, {}), *brought}, leaked_lines(text)
    found = {line: f"{line!r} is a line of {owner}." for line, owner in lines.items()}
    few = DRAWN.sub(lambda data: "" if len(data[0]) > MANY else data[0], text)
    found |= {str(run): f"{run} stand side by side in a graded case." for run in leaked_runs(few)}
    found |= {seed: f"{seed!r} is a seed for the grader." for seed in GRADER_SEED.findall(text)}
    whole = [f"this is the whole of {owner}." for owner in whole_answers(lines.keys())]
    return whole + [sentence for what, sentence in found.items() if what not in allowed]

"""Chapter 12, pretrained models: search by meaning, a direction that steers, and what a slip in loading costs."""

from functools import partial
from statistics import mean

import torch
from clearbook.search import sentence_vectors
from clearbook.weights import gguf_tokenizer, packaged, read_gguf
from clearformer.pretrained import from_pretrained
from tokenizers import Tokenizer
from torch import Tensor

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/12-pretrained.ipynb"
MEANING, TF_IDF, BM25, JOINED = "by meaning", "tf-idf", "BM25", "BM25 and meaning joined"
QUIZ, EXCEPTIONS = "quiz questions", "exceptions"


def by_meaning(page, texts, queries) -> Tensor:
    def load():
        folder = packaged("minilm")
        return from_pretrained(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))

    model, pieces = once(page, "minilm", load)
    return sentence_vectors(model, pieces, queries) @ sentence_vectors(model, pieces, texts).T


@experiment(
    PAGE,
    contenders={
        MEANING: "all-MiniLM-L6-v2",
        TF_IDF: "words that both have, rare ones more",
        BM25: "the same, with less for a word that comes again and for a long text",
        JOINED: "both lists, by reciprocal rank",
    },
    cases=(QUIZ, EXCEPTIONS),
    budget="no training; each seed draws half of the queries",
    measured="per cent of the queries whose best text is the right one, more is better",
    cells=("setup", "paragraphs", "word-search", "bm25", "quiz-search", "exceptions", "joined"),
    times=(1,),
)
def search(page, run):
    def right():
        texts, owners, queries, wanted = page.quiz() if run.case == QUIZ else page.exceptions()
        ways = {MEANING: partial(by_meaning, page), BM25: page.by_bm25, TF_IDF: page.by_words}
        ways[JOINED] = lambda *given: page.joined(ways[BM25](*given), ways[MEANING](*given))
        best = ways[run.contender](texts, queries).argmax(dim=1)
        return torch.tensor([owners[i] == w for i, w in zip(best, wanted, strict=True)])

    found = once(page, (run.contender, run.case), right)
    half = torch.randperm(len(found), generator=torch.Generator().manual_seed(run.seed))[: len(found) // 2]
    return 100 * found[half].float().mean().item()


claim(
    search,
    "On the quiz, words find as many or more. A quiz uses the words of its chapter, and where the words agree they are "
    "hard to beat. A name and a description share few words, and there the search by meaning finds the most.",
    about=(MEANING, TF_IDF, BM25),
    cell="search-tests",
    holds=lambda found: all(
        mean(found[words, QUIZ, 1]) > mean(found[MEANING, QUIZ, 1]) - 5
        and min(found[MEANING, EXCEPTIONS, 1]) > max(found[words, EXCEPTIONS, 1])
        for words in (TF_IDF, BM25)
    ),
    note="The page said so after three queries of its authors' own. The names and descriptions of Python's exceptions "
    "were written by others.",
    verdict="changed",
    before="Search by meaning finds what uses other words. Search by words is the baseline to beat.",
)

claim(
    search,
    "Joined, the two find the most on the quiz, where each knows what the other does not. On the exceptions the list "
    "by words is poor, and joining it costs.",
    about=(JOINED, MEANING, TF_IDF, BM25),
    cell="search-tests",
    holds=lambda found: (
        all(
            joined > alone
            for who in (MEANING, TF_IDF, BM25)
            for joined, alone in zip(found[JOINED, QUIZ, 1], found[who, QUIZ, 1], strict=True)
        )
        and all(a < b for a, b in zip(found[JOINED, EXCEPTIONS, 1], found[MEANING, EXCEPTIONS, 1], strict=True))
    ),
    note="Each half of the queries says so. The page had said that search engines join the lists, and not tried it.",
)

DIRECTION, NOISE, NOTHING = "the direction", "noise", "nothing"


@experiment(
    PAGE,
    contenders={
        DIRECTION: "praise minus complaint, from two sentences of each",
        NOISE: "a random direction, drawn from the seed, as long as that",
        NOTHING: "no push",
    },
    cases=("+2", "-2"),
    budget="added to every column above block 13 of SmolLM2, twice or minus twice",
    measured="how many times as likely words of praise are as words of complaint, after eight beginnings",
    cells=(
        *("setup", "sizes-and-rotate", "class-attention", "class-block", "class-decoder"),
        *("load-smollm2", "hook", "hook-patch-code", "hook-steer-code"),
    ),
    times=(1,),
    seeds=tuple(range(8)),
)
def steering(page, run):
    def load():
        options, tensors, vocabulary = read_gguf(packaged("smollm2"))
        model = page.Decoder(page.sizes_from(options)).eval()
        model.load_state_dict({name.removeprefix("model."): weight for name, weight in tensors.items()})
        words = gguf_tokenizer(vocabulary)
        page.direction.__globals__.update(smol=model, ids_of=lambda text: torch.tensor([words.encode(text)]))
        return model, page.direction()

    model, d = once(page, "smollm2", load)
    noise = torch.randn(d.shape, generator=torch.Generator().manual_seed(run.seed)) * d.norm() / d.shape[0] ** 0.5
    push = float(run.case) * {DIRECTION: d, NOISE: noise, NOTHING: 0 * d}[run.contender]
    key = run._replace(seed=run.seed if run.contender == NOISE else 0)

    def tilt():
        with page.hooked(model.layers[12], lambda x: x + push):
            return page.tilt()

    return once(page, key, tilt)


claim(
    steering,
    "Noise of the same length moves them, too, but never as far either way, so it is the direction that counts.",
    about=(DIRECTION, NOISE),
    cell="steer",
    holds=lambda tilt: (
        min(tilt[DIRECTION, "+2", 1]) > 1.3 * max(tilt[NOISE, "+2", 1] + tilt[NOISE, "-2", 1])
        and 1.3 * max(tilt[DIRECTION, "-2", 1]) < min(tilt[NOISE, "+2", 1] + tilt[NOISE, "-2", 1])
    ),
    note="The push is as long in each case, and none of the words that are counted stands in the four sentences. Of "
    "eight draws of the noise, added and subtracted, one moves the chances by a factor of three; the page had called "
    "that far less.",
    verdict="changed",
    before="Noise of the same length tilts them far less, so it is the direction that counts.",
)

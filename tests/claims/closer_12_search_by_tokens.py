"""Closer look at vectors of texts at work: a vector a token beside one a text, and a language model as the judge."""

import torch

from tests.claims.closer_12_search import PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

VECTOR, BM25, JOINED = "one vector", "BM25", "BM25 and one vector"
TOKENS, TABLE, RERANKED = "tokens", "tokens, without blocks", "ten best of both, by tokens"
FIVE, MODEL, FITTING = "the best five by tokens", "by SmolLM2, Question", "by SmolLM2, This error is called"
QUIZ, EXCEPTIONS = "quiz questions", "exceptions"


@experiment(
    PAGE,
    contenders={
        BM25: "words that both have, rare ones more",
        VECTOR: "the cosine of two vectors of all-MiniLM-L6-v2",
        JOINED: "both lists, by reciprocal rank",
        TOKENS: "the cosines of each token of the query and the token that is most like it",
        TABLE: "the same with the encoder's table of tokens, before any block",
        RERANKED: "the ten best of both lists, sorted by tokens",
    },
    cases=(QUIZ, EXCEPTIONS),
    budget="no training; each seed draws half of the queries",
    measured="per cent of the queries whose best text is the right one, more is better",
    cells=(
        "setup",
        "paragraphs",
        "short-vectors",
        "token-vectors",
        "tokens-ours",
        "quiz",
        "exceptions",
        "word-lists",
        "searches",
    ),
    times=(1,),
)
def token_by_token(page, run):
    made = once(page, run.case, page.quiz if run.case == QUIZ else page.exceptions)
    scores = once(page, ("scores", run.case), lambda: page.searches(made[0], made[2]))[run.contender]
    return half_found(scores, made[1], made[3], run.seed)


def half_found(scores, owners, wanted, seed):
    right = torch.tensor([owners[i] == w for i, w in zip(scores.argmax(dim=1), wanted, strict=True)])
    half = torch.randperm(len(right), generator=torch.Generator().manual_seed(seed))[: len(right) // 2]
    return 100 * right[half].float().mean().item()


@experiment(
    PAGE,
    contenders={
        VECTOR: "the cosine of two vectors of all-MiniLM-L6-v2",
        FIVE: "the five best of that, sorted by tokens",
        MODEL: "the five best of that, sorted by how likely SmolLM2 finds the query after the text and `Question:`",
        FITTING: "the same with `This error is called`",
    },
    cases=(EXCEPTIONS,),
    budget="no training; each seed draws half of the queries",
    measured="per cent of the queries whose best text is the right one, more is better",
    cells=(
        "setup",
        "paragraphs",
        "short-vectors",
        "token-vectors",
        "tokens-ours",
        "quiz",
        "exceptions",
        "word-lists",
        "load-judge",
        "judge",
        "judged",
    ),
    times=(1,),
)
def language_model_as_judge(page, run):
    texts, owners, queries, wanted = once(page, EXCEPTIONS, page.exceptions)

    def score():
        q, t = (page.sentence_vectors(page.minilm, page.pieces, each) for each in (queries, texts))
        if run.contender in (MODEL, FITTING):
            ask = "\n\nQuestion:" if run.contender == MODEL else " This error is called"
            return page.judged(page.language_model(), q @ t.T, texts, queries, ask)
        return q @ t.T if run.contender == VECTOR else page.best_then(q @ t.T, page.by_tokens(texts, queries), 5)

    return half_found(once(page, run.contender, score), owners, wanted, run.seed)


claim(
    token_by_token,
    "Token by token, the encoder finds more than with one vector a text, on both sets. With its table alone it finds "
    "fewer, so what helps is what the blocks know of a token in its sentence.",
    about=(TOKENS, VECTOR, TABLE),
    cell="searches-found",
    holds=lambda found: all(
        tokens > max(vector, table)
        for case in (QUIZ, EXCEPTIONS)
        for tokens, vector, table in zip(*(found[who, case, 1] for who in (TOKENS, VECTOR, TABLE)), strict=True)
    ),
    note="On each half of the queries. The table of tokens knows the same words, without their sentence.",
)

claim(
    token_by_token,
    "Sorting the ten best of the joined list by tokens gains on the exceptions, where the words had spoiled the list. "
    "On the quiz it finds fewer than the joined list, which was the best of all there.",
    about=(RERANKED, JOINED, TOKENS, BM25, VECTOR),
    cell="searches-found",
    holds=lambda found: (
        all(a < b for a, b in zip(found[RERANKED, QUIZ, 1], found[JOINED, QUIZ, 1], strict=True))
        and all(
            max(bm25, joined) < min(reranked, vector)
            for bm25, joined, reranked, vector in zip(
                *(found[who, EXCEPTIONS, 1] for who in (BM25, JOINED, RERANKED, VECTOR)), strict=True
            )
        )
        and all(
            joined > max(rest)
            for joined, *rest in zip(
                *(found[who, QUIZ, 1] for who in (JOINED, TOKENS, TABLE, BM25, VECTOR, RERANKED)), strict=True
            )
        )
    ),
    note="On each half of the queries. The page counts the queries that change: on the quiz they are few.",
)

claim(
    language_model_as_judge,
    "Asked in either way, SmolLM2 makes the order of the best five no better than it was. By the tokens it becomes "
    "better.",
    about=(MODEL, FITTING, VECTOR, FIVE),
    cell="judge-found",
    holds=lambda found: all(
        max(asked) <= vector < tokens
        for *asked, vector, tokens in zip(
            *(found[who, EXCEPTIONS, 1] for who in (MODEL, FITTING, VECTOR, FIVE)), strict=True
        )
    ),
    note="On each half of all the exceptions; the page asks every third.",
)

"""Tables of counts: distributions that sum to 1, the limits they must have, and two paths that agree."""

import numpy as np
import pytest
from clearbook.ngrams import Ngrams

V = 5


@pytest.fixture
def ids():
    return np.random.default_rng(3).integers(V, size=80)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("context", [[], [4], [0, 1], [1, 2, 3, 4, 0, 1, 2]])
def test_a_distribution_sums_to_one_after_any_context(ids, n, context):
    """Also after contexts that never occurred: six of five ids are seldom among eighty."""
    p = Ngrams(ids, n, V).distribution(context)
    assert p.shape == (V,) and p.min() > 0
    np.testing.assert_allclose(p.sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_surprisal_is_those_of_the_distributions(ids, n):
    """Catches contexts that are too long or too short at the beginning of a text."""
    table, other = Ngrams(ids, n, V), np.random.default_rng(4).integers(V, size=30)
    one_by_one = [-np.log2(table.distribution(other[:i])[other[i]]) for i in range(1, 30)]
    np.testing.assert_allclose(table.surprisal(other), one_by_one, rtol=1e-12)


def test_a_table_answers_for_the_smaller_ones(ids):
    table, other = Ngrams(ids, 4, V), np.random.default_rng(5).integers(V, size=30)
    for n in range(1, 5):
        np.testing.assert_array_equal(table.surprisal(other, n), Ngrams(ids, n, V).surprisal(other))
    for n in (0, 5):
        with pytest.raises(ValueError, match=f"surprisal with n={n}, expected 1 to 4"):
            table.surprisal(other, n)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_unseen_is_what_sets_of_runs_say(n):
    learned, other = [0, 1, 2, 0, 1, 3, 0, 1], [0, 1, 2, 3, 0, 1, 3, 4, 0, 1]
    runs = [{tuple(text[i : i + n]) for i in range(len(text) - n + 1)} for text in (learned, other)]
    assert Ngrams(learned, 4, V).unseen(other, n) == pytest.approx(len(runs[1] - runs[0]) / len(runs[1]))


def test_runs_longer_than_the_table_are_refused(ids):
    with pytest.raises(ValueError, match="unseen with n=3, expected 1 to 2"):
        Ngrams(ids, 2, V).unseen(ids, 3)


@pytest.mark.parametrize("n_ids", [0, 1, 2])
def test_fewer_ids_than_one_run_are_refused(n_ids, ids):
    with pytest.raises(ValueError, match=f"Ngrams: {n_ids} ids, expected at least n=3"):
        Ngrams([1] * n_ids, 3, V)
    with pytest.raises(ValueError, match=f"unseen of {n_ids} ids, expected at least n=3"):
        Ngrams(ids, 3, V).unseen([1] * n_ids, 3)


def test_only_the_last_tokens_of_a_context_count(ids):
    table = Ngrams(ids, 3, V)
    np.testing.assert_array_equal(table.distribution([0, 0, 3, 1]), table.distribution([4, 2, 3, 1]))
    assert not np.allclose(table.distribution([3, 1]), table.distribution([0, 1]))


def test_an_unseen_context_leaves_the_word_to_the_shorter_one():
    table = Ngrams([0, 1, 0, 1, 2], 2, 4)
    np.testing.assert_array_equal(table.distribution([3]), Ngrams([0, 1, 0, 1, 2], 1, 4).distribution([]))


def test_what_always_follows_becomes_nearly_certain():
    assert Ngrams([0, 1, 2] * 400, 3, 4).distribution([0, 1])[2] > 0.99


@pytest.mark.parametrize("n", [0, 40])
def test_a_depth_that_cannot_be_is_refused(n):
    with pytest.raises(ValueError, match=f"n={n} with n_vocab=5, expected n from 1 to 27"):
        Ngrams([0, 1], n, V)


@pytest.mark.parametrize(("n_vocab", "most"), [(2, 63), (8, 21), (3, 39), (2**21, 3)])
def test_the_deepest_table_counts_and_a_deeper_one_is_refused(n_vocab, most):
    """Catches keys beyond 64 bits, and a message that tells a depth which is refused, too."""
    ids = np.full(most + 2, n_vocab - 1)  # the largest key there is
    table = Ngrams(ids, most, n_vocab)
    assert table.unseen(ids, most) == 0 and table.unseen(np.arange(most + 1) % 2, most) == 1
    assert table.distribution(ids[: most - 1])[-1] == max(table.distribution(ids[: most - 1])) > 0.5
    with pytest.raises(ValueError, match=f"n={most + 1} with n_vocab={n_vocab}, expected n from 1 to {most}"):
        Ngrams(np.zeros(most + 1, int), most + 1, n_vocab)


def test_one_token_alone_has_tables_of_any_depth():
    """Catches a division by the logarithm of 1."""
    assert Ngrams([0] * 90, 80, 1).distribution([0] * 80).tolist() == [1]
    with pytest.raises(ValueError, match="n=0 with n_vocab=1, expected n of at least 1"):
        Ngrams([0], 0, 1)


def test_ids_outside_the_vocabulary_are_refused(ids):
    table = Ngrams(ids, 2, V)
    for call in (lambda: Ngrams([0, 5], 2, V), lambda: table.distribution([-1]), lambda: table.surprisal([0, 7])):
        with pytest.raises(ValueError, match=r"id (5|-1|7) is outside the vocabulary, expected 0 to 4"):
            call()

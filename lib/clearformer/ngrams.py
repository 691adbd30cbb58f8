"""What counting gives: the next token from a table of how often it followed the few before it."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from numpy.typing import ArrayLike


class Ngrams:
    r"""Interpolated n-grams: the counts after a context, mixed with what a context shorter by one token says.

    .. math:: p_k(w \mid h_k) = \frac{c(h_k w) + t(h_k) \, p_{k-1}(w \mid h_{k-1})}{c(h_k) + t(h_k)}, \qquad
              p_0(w) = \frac1V

    :math:`h_k` are the last k - 1 tokens, :math:`c` counts in the training text, and :math:`t(h_k)` is how many
    different tokens followed. Where :math:`h_k` never occurred, :math:`p_k = p_{k-1}`.

    Source: Witten and Bell 1991, method C; in the interpolated form of Chen and Goodman 1999.
    Cost: memory for every different sequence of up to n tokens; a search in each of n tables for a probability.
    Raises: ValueError for n below 1 or above the number of ids, ids outside the vocabulary, or a table too large for
    whole numbers of 64 bits.
    """

    def __init__(self, ids: ArrayLike, n: int, n_vocab: int):
        ids = self._check_ids(ids, n_vocab)
        if n < 1 or n_vocab**n > 2**63:  # the largest key is one less
            most = f"from 1 to {int(63 / np.log2(n_vocab))}" if n_vocab > 1 else "of at least 1"
            raise ValueError(f"Ngrams: n={n} with n_vocab={n_vocab}, expected n {most}.")
        if len(ids) < n:
            raise ValueError(f"Ngrams: {len(ids)} ids, expected at least n={n}, to count one run of them.")
        self.n, self.n_vocab, self._tables = n, n_vocab, []
        for k in range(n):  # tokens of context
            grams, counts = np.unique(self._keys(ids, k + 1), return_counts=True)
            contexts = grams // n_vocab  # sorted, since the grams are
            first = np.flatnonzero(np.r_[True, contexts[1:] != contexts[:-1]])
            followers = np.diff(first, append=len(grams))
            self._tables.append((grams, counts, contexts[first], np.add.reduceat(counts, first), followers))

    def distribution(self, context: ArrayLike) -> Float[ndarray, "V"]:
        """The probability of every token after ``context``, of which the last n - 1 tokens count."""
        context = self._check_ids(context, self.n_vocab)
        p = np.full(self.n_vocab, 1 / self.n_vocab)
        for k in range(min(self.n, len(context) + 1)):
            key = self._keys(context[len(context) - k :], k)[0] if k else 0
            p = self._interpolate(k, key * self.n_vocab + np.arange(self.n_vocab), p)
        return p

    def surprisal(self, ids: ArrayLike, n: int | None = None) -> Float[ndarray, "rest"]:
        """-log2 of the probability of every token but the first, given up to n - 1 tokens before it, in bits.

        A smaller ``n`` than that of the table gives what a table of that size would give.
        """
        n = self.n if n is None else n
        if not 1 <= n <= self.n:
            raise ValueError(f"Ngrams: surprisal with n={n}, expected 1 to {self.n}, as many as this table has.")
        ids = self._check_ids(ids, self.n_vocab)
        p = np.full(len(ids), 1 / self.n_vocab)
        for k in range(min(n, len(ids))):
            p[k:] = self._interpolate(k, self._keys(ids, k + 1), p[k:])
        return -np.log2(p[1:])

    def unseen(self, ids: ArrayLike, n: int) -> float:
        """The share of the different runs of ``n`` tokens in ``ids`` that the table has never counted."""
        if not 1 <= n <= self.n:
            raise ValueError(f"Ngrams: unseen with n={n}, expected 1 to {self.n}, as many as this table has.")
        ids = self._check_ids(ids, self.n_vocab)
        if len(ids) < n:
            raise ValueError(f"Ngrams: unseen of {len(ids)} ids, expected at least n={n}, which are one run.")
        grams, counts, *_ = self._tables[n - 1]
        return float(np.mean(_look_up(grams, counts, np.unique(self._keys(ids, n))) == 0))

    def _interpolate(self, k: int, keys: Int[ndarray, "P"], shorter: Float[ndarray, "P"]) -> Float[ndarray, "P"]:
        grams, counts, contexts, totals, followers = self._tables[k]
        count = _look_up(grams, counts, keys)
        total, kinds = (_look_up(contexts, values, keys // self.n_vocab) for values in (totals, followers))
        return np.where(total > 0, (count + kinds * shorter) / np.maximum(total + kinds, 1), shorter)

    def _keys(self, ids: Int[ndarray, "T"], length: int) -> Int[ndarray, "P"]:
        """Every run of ``length`` ids as one number in the base of the vocabulary."""
        keys = np.zeros(len(ids) - length + 1, dtype=np.int64)
        for i in range(length):
            keys = keys * self.n_vocab + ids[i : len(ids) - length + 1 + i]
        return keys

    @staticmethod
    def _check_ids(ids: ArrayLike, n_vocab: int) -> Int[ndarray, "T"]:
        ids = np.asarray(ids, dtype=np.int64)
        wrong = ids[(ids < 0) | (ids >= n_vocab)]
        if len(wrong):
            raise ValueError(f"Ngrams: id {wrong[0]} is outside the vocabulary, expected 0 to {n_vocab - 1}.")
        return ids


def _look_up(keys: ndarray, values: ndarray, wanted: ndarray) -> ndarray:
    """The value of each wanted key, 0 where it is not among the sorted keys."""
    place = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0)

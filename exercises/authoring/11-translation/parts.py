"""The model that the notebook gives; the right and the wrong solutions call it by its name there."""

import numpy as np


def next_scores(p, texts):
    texts = np.asarray(texts)
    return p["last"][texts[:, -1]] + p["earlier"][texts].mean(axis=1)

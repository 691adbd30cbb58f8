"""Exercise 12, question restack: head by head, and back."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import close, draw_sizes, shape_slip


def restack(W, n_heads, back=False):
    rest = W.shape[1:]
    first, second = (3, n_heads) if back else (n_heads, 3)
    blocks = W.reshape(first, second, len(W) // (3 * n_heads), *rest)
    return np.swapaxes(blocks, 0, 1).reshape(W.shape)


def draw_stack(rng, back, bias=False, n_heads=None, width=None, columns=None):
    H, K, E = draw_sizes(rng, 3, (4, 5, 7, 9, 11, 13))
    H, K, E = n_heads or H, width or K, columns or E
    return (rng.normal(size=(3 * H * K, *([] if bias else [E]))), H, *([] if back is None else [back]))


def stacks(*settings):
    return lambda rng: [draw_stack(rng, *setting) for setting in settings]


def columns_that_fit(rng):
    """One column, and so many that they, too, could be cut into heads: a square, and twice as wide."""
    H = int(rng.choice([2, 4]))
    sizes = {"n_heads": H, "width": H}
    return [draw_stack(rng, back, columns=n, **sizes) for n in (1, 3 * H * H, 6 * H * H) for back in (None, True)]


def there_and_back(ask, rng):
    for bias in (False, True):
        W, n_heads, _ = draw_stack(rng, False, bias)
        what = "a bias" if bias else "a matrix"
        there = ask(W, n_heads, False)
        if slip := shape_slip(there, W.shape, f"For {what} the result"):
            return slip
        if close(there, W):
            return f"For {what} of {n_heads} heads something has to move, but your result is what came in."
        back = ask(there, n_heads, True)
        if slip := shape_slip(back, W.shape, f"For {what} the way back"):
            return slip
        if not close(back, W):
            return f"There and back should give {what} as it was, but yours comes out otherwise."
        if close(ask(W, n_heads, True), there):
            return f"For {what} of {n_heads} heads the way there and the way back differ, but yours give the same."
    W, n_heads, _ = draw_stack(rng, False, n_heads=1)
    if not close(ask(W, 1, False), W):
        return "With a single head both orders are the same, but you move something."
    return None


def head_by_head(W, n_heads, back=False):
    return {"H": n_heads, "K": len(W) // (3 * n_heads)} | ({"E": W.shape[1]} if W.ndim > 1 else {})


QUESTION = Question(
    id="restack",
    title="Head by head, and back",
    name="restack",
    minutes=12,
    difficulty=2,
    checks=(
        equals("matrices, to ours", 3, stacks((None,), (False,), (False, False, None, 1)), restack),
        equals("matrices, back", 3, stacks((True,), (True, False, None, 1)), restack),
        equals("biases", 2, stacks((False, True), (True, True), (None, True)), restack),
        equals("one column, square, wide", 1, columns_that_fit, restack),
        holds("there and back", 3, there_and_back),
    ),
    hints=(
        "A row of W has three numbers: which head, which of the three parts, which row of it. Which of them "
        "changes fastest as you go down in their file, and which slowest?",
        "Give the first axis of W these three numbers as axes of its own, and exchange two of them. The "
        "third stays where it is.",
        "On the way back the first axis is cut in the order of *our* file. Whatever axes follow the first, "
        "none or one, can be passed on to `reshape` as they are.",
    ),
    section="the-same-numbers-laid-out-otherwise",
    inputs=Inputs(head_by_head, alike=("one column, square, wide",)),
)

right, wrong = answers_to(QUESTION)


@right
def axes_exchanged(W, n_heads, back=False):
    shape = (3, n_heads, -1) if back else (n_heads, 3, -1)
    return np.moveaxis(W.reshape(*shape, *W.shape[1:]), 0, 1).reshape(W.shape)


@right
def piece_by_piece(W, n_heads, back=False):
    K = len(W) // (3 * n_heads)
    out = np.zeros(W.shape)
    for head in range(n_heads):
        for part in range(3):
            theirs = slice((3 * head + part) * K, (3 * head + part + 1) * K)
            ours = slice((n_heads * part + head) * K, (n_heads * part + head + 1) * K)
            if back:
                out[theirs] = W[ours]
            else:
                out[ours] = W[theirs]
    return out


@right
def pieces_sorted(W, n_heads, back=False):
    pieces = np.split(W, 3 * n_heads)
    step = n_heads if back else 3
    return np.concatenate([piece for first in range(step) for piece in pieces[first::step]])


@right
def as_often_written(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)


@wrong("The heads come out in reverse order.")
def heads_reversed(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return (
        W.reshape(first, second, K, *W.shape[1:])
        .swapaxes(0, 1)[::-1, :: 1 if back else -1][:: -1 if not back else 1]
        .reshape(W.shape)
    )


@wrong("The keys come last, and the values in the middle.")
def keys_last(W, n_heads, back=False):
    first, second = (3, n_heads) if back else (n_heads, 3)
    K = len(W) // (3 * n_heads)
    return (
        W.reshape(first, second, K, *W.shape[1:])
        .swapaxes(0, 1)[(slice(None), [0, 2, 1]) if back else [0, 2, 1]]
        .reshape(W.shape)
    )


wrong.edits("""
# axes_exchanged
## nothing_moved: Nothing moves: the rows come out as they came in.
- shape = (3, n_heads, -1) if back else (n_heads, 3, -1)
- return np.moveaxis(W.reshape(*shape, *W.shape[1:]), 0, 1).reshape(W.shape)
+ return W.copy()
## columns_moved: The columns of the matrix are moved; queries, keys and values are in its rows.
- shape = (3, n_heads, -1) if back else (n_heads, 3, -1)
- return np.moveaxis(W.reshape(*shape, *W.shape[1:]), 0, 1).reshape(W.shape)
+ if W.ndim == 1:
+     return np.moveaxis(W.reshape((3, n_heads, -1) if back else (n_heads, 3, -1)), 0, 1).ravel()
+ return W[:, np.argsort(np.arange(W.shape[1]) % 3 if not back else np.arange(W.shape[1]) % n_heads, kind="stable")]

# as_often_written
## width_one_left_alone: With heads of width 1 you move nothing; they are stacked head by head, too.
  K = len(W) // (3 * n_heads)
+ if K == 1:
+     return W.copy()
## directions_exchanged: There and back are exchanged.
- first, second = (3, n_heads) if back else (n_heads, 3)
+ first, second = (3, n_heads) if not back else (n_heads, 3)
## back_ignored: You do the same whether `back` is true or not.
- first, second = (3, n_heads) if back else (n_heads, 3)
+ first, second = n_heads, 3
## only_back: Both ways you do what belongs to the way back.
- first, second = (3, n_heads) if back else (n_heads, 3)
+ first, second = 3, n_heads
## part_fastest: You take rows one by one, query, key, value in turn; the K rows of a part stay together.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ if back:
+     return W.reshape(3, n_heads * K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(n_heads * K, 3, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
## width_for_heads: The number of heads and the width of a head are exchanged.
- first, second = (3, n_heads) if back else (n_heads, 3)
- K = len(W) // (3 * n_heads)
+ H = len(W) // (3 * n_heads)
+ first, second = (3, H) if back else (H, 3)
+ K = n_heads
## rows_of_heads_interleaved: The three parts come apart, but inside each the first rows of all heads come together; a
head's rows stay side by side.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1 if back else 2).swapaxes(0, 1).reshape(W.shape)
## rows_within_reversed: The K rows of each part come out in reverse order.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1)[:, :, ::-1].reshape(W.shape)
## matrices_only: A bias has no columns, and you ask for their number.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(first, second, K, W.shape[1]).swapaxes(0, 1).reshape(W.shape)
## biases_come_out_as_columns: A bias comes out as a matrix with one column.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(len(W), -1)
## one_column_lost: A matrix with one column comes out as a bias; it keeps its column.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape).squeeze()
## columns_where_they_fit: Where the columns can be cut into heads as well you move these; queries, keys and values are
in the rows, however many columns there are.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ if W.ndim == 2 and W.shape[1] % (3 * n_heads) == 0:
+     return W.reshape(len(W), first, second, -1).swapaxes(1, 2).reshape(W.shape)
+ return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
## stacked_in_front: The three parts stand behind one another on an axis of their own; the result should have the shape
of W.
- return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(W.shape)
+ return W.reshape(first, second, K, *W.shape[1:]).swapaxes(0, 1).reshape(3, len(W) // 3, *W.shape[1:])
""")

"""Exercise 03, question dimensions: five shapes."""

from itertools import combinations

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes
from clearformer.reference import attention


def table_shapes(n, m, d, k, v, layout):
    """Shapes of Q, K, V, A and O, read off tables of zeros that went through the formulas."""
    targets, sources = np.zeros((d, n)), np.zeros((d, m))
    Q, K, V = np.zeros((k, d)) @ targets, np.zeros((k, d)) @ sources, np.zeros((v, d)) @ sources
    Y, A = attention.attend(Q, K, V)
    tables = {"Q": Q, "K": K, "V": V, "A": A, "O": Y}
    return {name: table.shape if layout == "columns" else table.T.shape for name, table in tables.items()}


def in_layout(layout):
    def cases(rng):
        n, d = draw_sizes(rng, 2)
        cases = [(*draw_sizes(rng, 5), layout) for _ in range(3)] + [(1, *draw_sizes(rng, 4), layout)]
        cases += [(n, n, d, d, d, layout), (n, 1, *draw_sizes(rng, 3), layout)]  # the square one is as on the slide
        for one, other in combinations(range(5), 2):  # two that agree, and say nothing about the others
            sizes = draw_sizes(rng, 5)
            sizes[other] = sizes[one]
            cases.append((*sizes, layout))
        return cases

    return cases


QUESTION = Question(
    id="dimensions",
    title="Five shapes",
    name="shapes",
    minutes=8,
    difficulty=1,
    checks=with_battery(
        equals("rows", 5, in_layout("rows"), table_shapes),
        equals("columns", 5, in_layout("columns"), table_shapes),
    ),
    hints=(
        "Which tokens does each table have a row for: those that ask or those that are looked at?",
        "In a product the two inner sizes must be equal and vanish. Write Q = XW_Q with the shapes "
        "below it, "
        "then the other four.",
        "A transpose swaps the two numbers of a shape. What happens to a whole formula when you transpose it?",
    ),
    section="the-matrix-form",
    inputs=Inputs(lambda *args: dict(zip("nmdkv", args, strict=False)), alike=("rows", "columns")),
)

right, wrong = answers_to(QUESTION)


@right
def two_tables(n, m, d, k, v, layout):
    if layout == "rows":
        return {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, v)}
    return {"Q": (k, n), "K": (k, m), "V": (v, m), "A": (m, n), "O": (v, n)}


@right
def rows_reversed(n, m, d, k, v, layout):
    in_rows = dict(Q=(n, k), K=(m, k), V=(m, v), A=(n, m), O=(n, v))
    return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}


@right
def measured(n, m, d, k, v, layout):
    I, J = torch.ones(n, d), torch.ones(m, d)  # noqa: E741
    Q, K, V = I @ torch.ones(d, k), J @ torch.ones(d, k), J @ torch.ones(d, v)
    A = Q @ K.T
    tables = {"Q": Q, "K": K, "V": V, "A": A, "O": A @ V}
    return {name: (table if layout == "rows" else table.T).shape for name, table in tables.items()}


wrong.edits("""
# two_tables
## keys_of_those_who_ask: You make a key and a value for each token that asks; they come from those that are looked at.
- return {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, v)}
+ return {"Q": (n, k), "K": (n, k), "V": (n, v), "A": (n, m), "O": (n, v)}
- return {"Q": (k, n), "K": (k, m), "V": (v, m), "A": (m, n), "O": (v, n)}
+ return {"Q": (k, n), "K": (k, n), "V": (v, n), "A": (m, n), "O": (v, n)}
## layouts_exchanged [query-on-the-column-or-on-the-row]: You have swapped the two layouts: what you give for rows is
the answer for columns, and vice versa.
- if layout == "rows":
+ if layout == "columns":
## weights_the_same [query-on-the-column-or-on-the-row]: A has the same shape in both your layouts.
- return {"Q": (k, n), "K": (k, m), "V": (v, m), "A": (m, n), "O": (v, n)}
+ return {"Q": (k, n), "K": (k, m), "V": (v, m), "A": (n, m), "O": (v, n)}

# rows_reversed
## same_for_both: You give the same shapes for both layouts, but transposing the tokens transposes every table.
- in_rows = dict(Q=(n, k), K=(m, k), V=(m, v), A=(n, m), O=(n, v))
- return {name: shape if layout == "rows" else shape[::-1] for name, shape in in_rows.items()}
+ return {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, v)}
## weights_over_features: Your A compares features with features; attention compares tokens with tokens.
- in_rows = dict(Q=(n, k), K=(m, k), V=(m, v), A=(n, m), O=(n, v))
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (d, d), "O": (n, v)}
## weights_over_width: Your A is k × k, but k is the size that the product sums away.
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (k, k), "O": (n, v)}
## keys_from_the_askers [query-on-the-column-or-on-the-row]: You take keys and values from the tokens that ask.
+ in_rows = {"Q": (n, k), "K": (n, k), "V": (n, v), "A": (n, n), "O": (n, v)}
## queries_from_the_sources [query-on-the-column-or-on-the-row]: You take the queries from the tokens that are looked
at.
+ in_rows = {"Q": (m, k), "K": (n, k), "V": (n, v), "A": (m, n), "O": (m, v)}
## weights_transposed [query-on-the-column-or-on-the-row]: Only A lies on its side: its query is on the wrong index for
this layout.
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (m, n), "O": (n, v)}
## weights_over_targets: Your A pairs the tokens that ask with one another; here they look at other tokens.
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, n), "O": (n, v)}
## values_as_wide_as_keys [values]: Your values and outputs have the width of the keys, but the values have a map of
their own.
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, k), "A": (n, m), "O": (n, k)}
## all_as_wide_as_tokens: You give every table the width of the tokens; k and v may differ from it.
+ in_rows = {"Q": (n, d), "K": (m, d), "V": (m, d), "A": (n, m), "O": (n, d)}
## one_output_per_source [values]: Your output has one token per source: it should answer the tokens that ask.
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (m, v)}
## output_as_wide_as_tokens [values]: Your output is as wide as a token that goes in; no step brings it back to that
width here.
+ in_rows = {"Q": (n, k), "K": (m, k), "V": (m, v), "A": (n, m), "O": (n, d)}
""")

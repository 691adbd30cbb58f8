"""The rows of a file of weights, where the explorable puts them, beside where the library puts them."""

import itertools

import torch
from clearbook.slips import pairs_as_neighbours
from clearformer.pretrained.tables import STACKED

FILES = ("stacked", "halves", "pairs")


def rows_by_place(file, H, K):
    """For each row of the model, stacked as the library stacks them: the row of the file that belongs there."""
    D = H * K
    parts = [torch.arange(part * D, (part + 1) * D) for part in range(3)]
    if file == "pairs":  # the rows of queries and keys back into halves
        back = pairs_as_neighbours(torch.arange(D), H).argsort()
        parts[:2] = [part[back] for part in parts[:2]]
    return STACKED.load([part[:, None] for part in parts], None).flatten()


def test_rows_land_where_the_library_puts_them(show):
    """Catches a row that is drawn in another head, another part or another order than the library loads it to."""
    shown = show("state-dict").guess()
    for file, H, K in itertools.product(FILES, (1, 2, 3), (2, 4, 6)):
        shown.set(heads=H, width=K)
        shown.press("file", file)
        shown.press("way", "sorted")
        expected = rows_by_place(file, H, K)
        names = [f"row-{place}" for place in range(3 * H * K)]
        assert shown.texts(*names) == [str(row % (H * K)) for row in expected.tolist()]
        assert shown.says.endswith("All rows are right.")
        shown.press("way", "lying")
        wrong = (expected != torch.arange(3 * H * K)).tolist()
        assert shown.texts(*names) == [f"{row % (H * K)}{' ✗' * bad}" for row, bad in enumerate(wrong)]
        counted = f"{sum(wrong)} of {3 * H * K} rows are in another's place, and every shape fits."
        assert shown.says.endswith(counted if any(wrong) else "All rows are right.")


def test_it_says_where_the_followed_row_is(show):
    """Catches a sentence that names another place than the one that is framed."""
    shown = show("state-dict").guess()
    H, K = 2, 4
    shown.set(heads=H, width=K)
    place = rows_by_place("pairs", H, K).tolist()
    for row in range(3 * H * K):
        shown.set(row=row)
        part, rest = divmod(place.index(row), H * K)
        name = f"Row {row % (H * K)} of {('attn_q', 'attn_k', 'attn_v')[row // (H * K)]}"
        where = f"the {('queries', 'keys', 'values')[part]}, head {rest // K}, row {rest % K}."
        assert shown.says.startswith(f"{name} is in {where}")
        framed = shown.element.locator('td[style*="outline"]')
        assert framed.evaluate_all("all => all.map(e => e.dataset.value)") == [f"row-{place.index(row)}"]


def test_gpt2_has_columns_where_others_have_rows(show):
    """Catches a file whose numbers are called by another's names."""
    shown = show("state-dict").guess()
    shown.press("file", "stacked")
    shown.set(row=1)
    assert shown.says.startswith("Column 1 of c_attn is in the queries, head 0, row 1.")

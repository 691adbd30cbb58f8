"""The small model of letters that chapters 3 to 7 add their parts to."""

import pytest
import torch
from clearbook import ladder
from clearbook.ladder import LETTERS, Ladder, LastLetters, letters_loss, loss_of_model, rows
from torch import nn


@pytest.fixture
def few_steps(monkeypatch):
    monkeypatch.setattr(ladder, "STEPS", 40)


class Plus(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x + self.number


def test_the_text_is_the_novel_and_its_end_is_not_trained_on():
    """Catches letters that are lost, and a row that is in both parts."""
    seen, unseen = rows()
    text = "".join(ladder.LETTERS[i] for i in seen[:200])
    assert "elliot" in text and "  " not in text
    assert unseen.shape[1] == ladder.LENGTH + 1 and 0.09 < unseen.numel() / len(seen) < 0.13
    assert (unseen[1:, 0] == unseen[:-1, -1]).all()  # the last letter of a row is only asked for, then read


def test_each_part_is_added_to_the_stream_or_replaces_it():
    """Catches a residual connection that is lost, or one too many, and positions that are not added."""
    ids = torch.tensor([[0, 1, 2]])
    plain = Ladder([], None, added=True)
    for added, expected in ((True, 8.0), (False, 4.0)):  # 1, then 1 + 2 and 3 + 5; or 2, then 4
        model = Ladder([Plus(1.0), Plus(2.0)], None, added)
        model.letters.weight.data.fill_(1.0)
        model.head = nn.Identity()
        assert model(ids).unique().tolist() == [expected]
    table = nn.Embedding(16, 32)
    placed = Ladder([], table, added=True)
    placed.load_state_dict(plain.state_dict(), strict=False)
    assert torch.allclose(placed(ids), plain.head(plain.letters(ids) + table.weight[:3]))


class Sight(nn.Module):
    """Gives what it was allowed to see instead of a vector."""

    def forward(self, x, mask=None):
        return torch.full_like(x, torch.nan if mask is None else mask.sum())


def test_parts_that_take_a_mask_get_the_causal_one():
    """Catches a layer that sees the letters it should predict, and a mask forced on a part that takes none."""
    ids = torch.zeros(1, 3, dtype=torch.long)
    model = Ladder([Plus(0.0), Sight()], None, added=False)
    model.head = nn.Identity()
    assert model(ids).unique().tolist() == [6.0]  # 1 + 2 + 3 places where the three letters may look
    open_model = Ladder([Sight()], None, added=False, causal=False)
    open_model.head = nn.Identity()
    assert open_model(ids).isnan().all()


def test_the_mlp_reads_eight_letters_and_none_that_comes_later():
    """Catches a window that is one letter too long or too short, or reaches into the future."""
    torch.manual_seed(0)
    model, ids = LastLetters(), torch.randint(1, len(LETTERS), (1, 16))
    before = model(ids)
    edited = ids.clone()
    edited[0, 4] = 0
    moved = (model(edited) != before).any(dim=-1)[0]
    assert moved.nonzero().flatten().tolist() == [*range(4, 12)]


def test_training_learns_repeats_and_leaves_the_callers_seed(few_steps):
    """Catches a loss that is not the text's, other numbers in each call, and later draws that depend on it."""
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = letters_loss(list)
    assert torch.equal(torch.rand(3), expected)
    assert 2.2 < first < 2.7  # ln 27 is 3.30
    assert letters_loss(list) == first
    alone = [loss_of_model(lambda: Ladder([], None, True), seed) for seed in (0, 1)]
    assert letters_loss(list, n_seeds=1) == alone[0] != alone[1] and first == sum(alone) / 2
    assert letters_loss(lambda: [nn.Linear(32, 32)], lambda: nn.Embedding(16, 32)) != first
    assert loss_of_model(lambda: Ladder([], None, True), times=4) < alone[0]  # the rate falls more slowly, too

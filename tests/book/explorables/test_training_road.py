"""The cards of the road from pretraining to rewards: each has one home, and only the first try counts."""

from tests.book.explorables.shown import stored_data


def test_all_cards_at_the_first_try_reach_the_goal(show):
    """Catches a card whose home is another's, and a row that does not count."""
    data, shown = stored_data("training-road"), show("training-road").guess()
    assert {*data["homes"]} == {*range(len(data["steps"]))}
    for i, home in enumerate(data["homes"]):
        assert data["cards"][i] in shown.element.inner_text() and "goal is reached" not in shown.says
        shown.press("step", home)
        assert data["why"][i] in shown.says
        if i + 1 < len(data["homes"]):
            shown.press("next")
    assert "The goal is reached" in shown.says
    shown.agrees_with("placed", [data["homes"].count(step) for step in range(len(data["steps"]))])
    assert shown.texts(*(f"counts-{i}" for i in range(len(data["steps"])))) == data["counts"]


def test_a_second_try_is_told_and_does_not_count(show):
    """Catches a wrong card that can be made right afterwards."""
    data, shown = stored_data("training-road"), show("training-road").guess()
    right, wrong = data["homes"][0], (data["homes"][0] + 1) % len(data["steps"])
    shown.press("step", wrong)
    assert shown.says.startswith(f"No, at {data['steps'][right]}: ")
    shown.press("step", right)
    shown.verify({f"placed-{right}": 0})
    for i, home in list(enumerate(data["homes"]))[1:]:
        shown.set(card=i + 1)
        shown.press("step", home)
    n = len(data["homes"])
    assert f"At the first try {n - 1} of {n} were right." in shown.says
    shown.press("again")
    assert "Where on the road" in shown.says and shown.text("placed-0") == "0"

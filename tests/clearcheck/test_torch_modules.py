"""Questions that ask for an nn.Module: its parameters by name, its outputs, its gradients, and what is told of them."""

import re

import pytest
from clearcheck import RightSolutions, WrongSolutions, equals, holds
from clearcheck.author.lint_inputs import epsilon
from clearcheck.author.subject import Subject
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import (
    RESTLESS,
    causal,
    gradients_everywhere,
    keeps,
    parameter_count,
    rows_independent,
)
from clearcheck.learner.case import case_of
from clearcheck.worker.torch_modules import nothing_drawn
from inline_snapshot import snapshot

from .torch_question import STRAIGHT, Straight, asks, draw_args, message_on, module, nn, result_of, torch


def assign_before_init(self, d_in, d_out):
    self.inner = nn.Linear(d_in, d_out)


CONSTRUCTORS = {  # a line of the constructor, and what is said of it
    "self.outer = nn.Linear(d_in, d_out)": "your module has no parameter `inner.weight` of shape (5, 3); it has "
    "`outer.weight`, which the task does not",
    "self.inner = nn.Linear(d_in, d_out, bias=False)": "your module has no parameter `inner.bias` of shape (5,).",
    "self.inner = nn.Linear(d_in, d_out); self.scale = nn.Parameter(torch.ones(1))": "your module has a parameter "
    "`scale` that the task does not ask for",
    "self.inner = nn.Linear(d_out, d_in)": "your module has a parameter `inner.weight` of shape (3, 5); the shape "
    "(5, 3) is expected",
    "self.inner = nn.Linear(d_in, d_out).double()": "your module has a parameter `inner.weight` of dtype float64; "
    "float32 is expected",
}
FORWARDS = {  # a line of `forward`, and what is said of it
    "return self.inner(x.mT)": "your module raised RuntimeError (mat1 and mat2 shapes cannot be multiplied (6x7 and "
    "3x5)",
    "return self.inner(x), x": "your module gave a tuple of 2; a tensor is expected",
    "self.inner(x)": "your module gave None; a tensor is expected (does `forward` end with `return`?)",
    "return self.inner(x).detach().numpy()": "your module gave a NumPy array; a tensor",
    "return self.inner(x) / 0": "(70 of 70 entries are wrong); a finite number is expected there",
    "return self.inner(x).double()": "your module gave numbers of dtype float64; float32 is expected, as precise as "
    "the arguments",
    "return self.inner(x)[0]": "your module gave a tensor of shape (7, 5); the shape (2, 7, 5) is expected",
    "return 2 * self.inner(x)": "(70 of 70 entries are wrong); this is off by",
    "return self.inner(x or x)": "is ambiguous). A tensor has no single truth: ask `is None` of",
    "raise SystemExit(3)": "your module raised SystemExit (3)",
}
CLASSES = {  # a whole class, by its name here
    "other constructor": (
        type("Other", (nn.Module,), {"__init__": lambda self, width: None, "forward": lambda self, x: x}),
        "your module cannot be built: missing a required argument: 'width'; "
        "the task asks for `def __init__(self, d_in, d_out)`",
    ),
    "other order": (
        type("Turned", (nn.Module,), {"__init__": lambda self, d_out, d_in: None, "forward": lambda self, x: x}),
        "your module takes its sizes in another order (d_out, d_in); "
        "the task asks for `def __init__(self, d_in, d_out)`",
    ),
    "no module": (type("Plain", (), {}), "your module is no nn.Module: the task asks for `class …(nn.Module):`"),
    "no forward": (type("Empty", (nn.Module,), {}), "your module has no method `forward`"),
    "no super": (
        type("Early", (nn.Module,), {"__init__": assign_before_init, "forward": lambda self, x: x}),
        "your module raised AttributeError (cannot assign module before Module.__init__() call) in the line "
        "`self.inner = nn.Linear(d_in, d_out)`. Let the constructor begin with `super().__init__()`.",
    ),
}
MISFITS = [
    *(pytest.param(module(init=line), says, id=line) for line, says in CONSTRUCTORS.items()),
    *(pytest.param(module(forward=line), says, id=line) for line, says in FORWARDS.items()),
    *(pytest.param(answer, says, id=name) for name, (answer, says) in CLASSES.items()),
]


@pytest.mark.parametrize(("answer", "says"), MISFITS)
def test_what_is_wrong_with_a_module_is_told(answer, says):
    """Catches a traceback, a point, or a sentence that does not say what came and what is expected."""
    message = message_on(answer)
    given = ("d_in=3, d_out=5", "shape (2, 7, 3)")
    assert all(fact in message for fact in (*given, says))


@pytest.mark.parametrize("check", [STRAIGHT, holds("any", 3, lambda ask, rng: ask(*draw_args(rng)) is None or None)])
def test_an_input_that_is_changed_is_told(check):
    """Catches a module that works on the caller's own tensor, and a check of a property that does not mind."""
    changing = module(forward="y = self.inner(x); x += 1; return y")
    assert message_on(Straight, asks(check)) == ""
    assert message_on(changing, asks(check)) == snapshot(
        "Your module changed its input in place: compute into a new tensor (`x = x + y`, not `x += y`)."
    )


def test_first_values_are_spared_where_others_are_copied_in():
    """Catches a constructor that stays without its functions of torch, and a buffer that is left as memory was."""
    before = torch.get_rng_state()
    with nothing_drawn():
        nn.Sequential(nn.Linear(3, 5), nn.Embedding(4, 3))
        assert torch.equal(torch.get_rng_state(), before)
        buffer = nn.init.normal_(torch.full((300, 300), 7.0))
    assert 0.9 < buffer.std() < 1.1
    assert nn.Linear(300, 300).weight.std() > 0.02


def test_parameters_that_the_module_does_not_know_are_told():
    """Catches "no such parameter" for one that stands there, but as a tensor or in a list."""
    weights = lambda name: lambda rng: [draw_args(rng, weights={name: rng.normal(size=(5, 3))})]  # noqa: E731
    bare = module("self.w = torch.ones(d_out, d_in)", "return x @ self.w.T")
    listed = module("self.maps = [nn.Linear(d_in, d_out, bias=False)]", "return self.maps[0](x)")
    one = message_on(bare, asks(equals("outputs", 1, weights("w"), bare)))
    assert "This check itself is broken" in one  # its reference has the fault
    right = module("self.w = nn.Parameter(torch.ones(d_out, d_in))", "return x @ self.w.T")
    assert message_on(bare, asks(equals("o", 1, weights("w"), right))) == snapshot(
        "With d_in=3, d_out=5 and a tensor of shape (2, 7, 3) your module has no parameter `w` of shape (5, 3), only a tensor of that name: wrap it in nn.Parameter."
    )
    right = module("self.maps = nn.ModuleList([nn.Linear(d_in, d_out, bias=False)])", "return self.maps[0](x)")
    message = message_on(listed, asks(equals("o", 1, weights("maps.0.weight"), right)))
    assert message == snapshot(
        "With d_in=3, d_out=5 and a tensor of shape (2, 7, 3) your module has no parameter `maps.0.weight` of shape (5, 3): keep the parts in an nn.ModuleList, so that the module knows their parameters."
    )


def test_a_tied_parameter_may_have_either_name():
    """Catches a shared weight that counts as extra under its second name, or as missing under its first."""
    tied = module("self.outer = nn.Linear(d_in, d_out); self.inner = self.outer")
    assert result_of(tied, asks()).points == 3


def test_gradients_are_compared_and_missing_ones_told():
    """Catches a module that computes the right thing and cannot learn."""
    question = asks(equals("gradients", 1, lambda rng: [draw_args(rng, gives="gradients")], Straight))
    assert result_of(module(), question).points == 1
    halved = module(forward="y = self.inner(x); return 0.5 * y + 0.5 * y.detach()")
    assert "in the gradient of `inner.weight`" in message_on(halved, question)
    detached = module(forward="return self.inner(x).detach()")
    assert re.search(r"without a gradient\b.*`detach\(\)`", message_on(detached, question))
    cut = module(forward="return x @ self.inner.weight.detach().T + self.inner.bias")
    assert re.search("gradient of `inner.weight`.*no gradient arrives", message_on(cut, question))


def test_a_place_in_train_mode_has_one_comma_in_front():
    """Catches "in train() mode,, in the gradient of"."""
    gradients = equals("gradients", 2, lambda rng: [draw_args(rng, gives="gradients", training=True)], Straight)
    told = message_on(module(forward="return 2 * self.inner(x)"), asks(gradients))
    assert re.search(r"train\(\) mode, in .*`inner\.weight`", told)


def test_a_parameter_that_is_detached_is_not_said_to_be_unused():
    """Catches a detached parameter of which the message says that the output does not depend on it."""
    question = asks(holds("every parameter", 1, gradients_everywhere(draw_args)))
    told = message_on(module(forward="return x @ self.inner.weight.detach().T + self.inner.bias"), question)
    assert told == (
        snapshot(
            "No gradient reaches the parameter `inner.weight`: the output does not depend on it, or it was detached on the "
            "way."
        )
    )


def test_a_number_of_parameters_is_told_without_the_right_one():
    """Catches a message that gives the answer away."""
    question = asks(holds("count", 1, parameter_count(draw_args, lambda d_in, d_out: (d_in + 1) * d_out)))
    assert result_of(Straight, question).points == 1
    two = module("self.inner, self.outer = nn.Linear(d_in, d_out), nn.Linear(d_out, d_out)")
    assert message_on(two, question) == snapshot("With d_in=3, d_out=5 your module has 50 parameters: too many.")


@pytest.mark.parametrize(("check", "seen"), [(causal, "x.flip(1)"), (rows_independent, "x.flip(0)")])
def test_dropout_in_use_is_not_taken_for_a_look_aside(check, seen):
    """Catches "earlier positions changed too" said of a module that drops other numbers in each call."""
    question = asks(holds("apart", 1, check(draw_args)))
    assert message_on(Straight, question) == ""
    assert message_on(module(forward="return nn.functional.dropout(self.inner(x), 0.3)"), question) == RESTLESS
    told = message_on(module(forward=f"return self.inner({seen})"), question)
    assert "changed too" in told and told != RESTLESS


def test_a_check_repeats_and_seeds_the_code():
    """Catches a module whose own initial weights, or dropout, differ from one check to the next."""
    question = asks(equals("outputs", 1, lambda rng: [draw_args(rng, weights=None, seed=4)], Straight))
    assert result_of(module(), question).points == 1
    noisy = module(forward="return self.inner(x) + torch.randn(1)")
    assert message_on(noisy) == message_on(noisy)


def test_one_mistake_in_two_spellings_is_told():
    """Catches rounding in float32, or another word for a failing product, that hides a known mistake."""
    wrong = WrongSolutions("q")
    wrong("The outputs are doubled.")(module(forward="return 2 * self.inner(x)"))
    twice = module(forward="return x @ (self.inner.weight.T * 2) + 2 * self.inner.bias")
    assert result_of(twice, asks(), wrong.of("q")).checks[0].diagnosis.message == "The outputs are doubled."


def draw_with_second_module(rng, **options):
    (plan,) = draw_args(rng, **options)
    return ({**plan, "beside": {"d_in": 4, "d_out": 6}},)


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            {"gives": "changed"},
            {
                "init": "self.inner = nn.Linear(d_in, d_out); self.W = None",
                "forward": "self.W = self.inner.weight.clone() if self.W is None else self.W; return x @ self.W.T + self.inner.bias",
            },
        ),
        (
            {},
            {
                "init": "self.inner = nn.Linear(d_in, d_out); type(self).width = d_out",
                "forward": "return self.inner(x) * self.width / 5",
            },
        ),
    ],
    ids=["weights from before", "sizes of another module"],
)
def test_what_a_module_should_not_remember_is_noticed(change, lines):
    """Catches weights that are read once, and sizes that all modules of a class share."""
    question = asks(equals("later", 1, lambda rng: [draw_with_second_module(rng, **change)], Straight))
    assert message_on(Straight, question) == ""
    assert "this is off by" in message_on(module(**lines), question)


ROOM = "self.inner = nn.Linear(d_in, d_out); self.kept = []; self.box = {'mask': torch.ones(500, 500)}"
KEEPING = {  # what a call keeps, and how many numbers a token that is; views of one tensor count once
    "self.kept.append(x)": 3,
    "y = self.inner(x); self.kept.append((y, y.view(-1), y[:, :2], y[:, :, None].expand(-1, -1, 9, -1)))": 5,
    "self.box.update(x=x, y=self.inner(x))": 8,
    "self.more = lambda: x": 3,
    "self.inner.x = x": 3,
    "self.library = torch; self.late = lambda: never; self.kept.append(x)\n        if x is None: never = 1": 3,
}


@pytest.mark.parametrize(("line", "numbers"), KEEPING.items(), ids=KEEPING)
def test_what_a_module_keeps_of_a_token_is_counted(line, numbers):
    """Catches tensors that are overlooked in lists, dicts, parts or closures, and those that are counted twice."""

    def one_text(rng, n):
        return module_call({"d_in": 3, "d_out": 5}, (rng.normal(size=(1, n, 3)),))

    def question(enough):
        return asks(holds("kept", 1, keeps(one_text, lambda d_in, d_out: enough, "the outputs")))

    answer = module(init=ROOM, forward=f"{line}\n        return self.inner(x)")
    assert message_on(answer, question(numbers)) == ""
    told = f"With each token your module keeps {numbers} numbers more; {numbers // 2} are enough: the outputs."
    assert message_on(answer, question(numbers // 2)) == told


def test_outputs_that_are_nan_do_not_count_as_causal():
    """Would catch points for outputs that no later token changes because they are nan before and after."""
    question = asks(holds("later", 1, causal(draw_args)))
    assert "are nan or inf" in message_on(module(forward="return 0 * (self.inner(x) / 0)"), question)
    assert result_of(Straight, question).points == 1


def test_a_method_is_called_in_place_of_the_module():
    """Catches `forward` called for a method, and a traceback for one that is not there."""

    class Two(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.inner = nn.Linear(d_in, d_out)

        def forward(self, x):
            return x

        def encode(self, x):
            return self.inner(x), x > 0

    def plans(rng):
        (plan,) = draw_args(rng)
        return [({**plan, "method": "encode"},)]

    question = asks(equals("pair", 1, plans, Two))
    assert message_on(Two, question) == ""
    assert message_on(Straight, question) == snapshot(
        "With d_in=3, d_out=5 and a tensor of shape (2, 7, 3) your module has no method `encode`."
    )


@pytest.mark.parametrize(("eps", "told"), [((0.1, 1e-5), []), ((1e-5, 1e-6), ["ε is always tiny"])])
def test_an_epsilon_of_a_constructor_is_looked_at(eps, told):
    """Catches a rule on ε that does not see the constructor of a module, or that finds it where it is large enough."""

    def plans(rng):
        return [module_call({"d_model": 3, "eps": value}, (rng.normal(size=(2, 3)),)) for value in eps]

    question = asks(equals("outputs", 3, plans, Straight))
    found = list(epsilon(Subject(None, RightSolutions(), None), question))
    assert [sentence[: len("ε is always tiny")] for sentence in found] == told


def test_the_case_of_a_module_tells_its_sizes_and_its_inputs():
    """Catches "a dict of 2" and "a tuple of 1", of which nobody knows what they are, and a case that cannot be called."""
    case = case_of(result_of(module(forward="return 2 * self.inner(x)"), asks()))
    assert repr(case).splitlines() == snapshot(
        [
            'The check "outputs" is the first that fails. Its arguments:',
            "  d_in=3, d_out=5",
            "  a tensor of shape (2, 7, 3)",
            'Try: sizes, inputs = case("q"); Straight(**sizes)(*inputs)',
        ]
    )
    sizes, inputs = case
    assert Straight(**sizes)(*inputs).shape == (2, 7, 5)
    counted = holds("parameters", 1, parameter_count(lambda rng: draw_args(rng), lambda d_in, d_out: 1))
    assert case_of(result_of(Straight, asks(counted)))[1] == ()

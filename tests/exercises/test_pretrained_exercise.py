"""Exercise 12 against the libraries that write such files, its examples, its museum piece and its two models."""

from functools import partial

import numpy as np
import pytest
import torch
from inline_snapshot import snapshot
from safetensors.torch import load, save

from tests.exercises.course_exercises import (
    answer_of,
    cell,
    course_exercise,
    edited_answer,
    graded_checks,
    in_one_breath,
    task_of,
)
from tests.lazy_module import LazyModule

transformers = LazyModule("transformers")

SLUG = "12-pretrained"
answer = partial(answer_of, SLUG)


def wrong_answers(id) -> dict:
    return {entry.name: entry.function for entry in course_exercise(SLUG).wrong.of(id)}


task = partial(task_of, SLUG)


def scope(*cells) -> dict:
    names = {"np": np, "erf": __import__("math").erf, "lines": []}
    names["print"] = lambda *values: names["lines"].append(" ".join(map(str, values)))
    for id in cells:
        exec(cell(course_exercise(SLUG).learner, id), names)
    return names


def randomise_parameters(model):
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.4)
    return model.double().eval()


def arrays(model) -> dict:
    return {name: tensor.numpy() for name, tensor in model.state_dict().items()}


def test_the_reader_reads_what_the_library_writes():
    """Catches a format of our own making."""
    tensors = {
        str(dtype): torch.randn(3, 5).to(dtype)
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16)
    }
    for metadata in (None, {"format": "pt"}):
        data = save(tensors | {"number": torch.tensor(2.5)}, metadata)
        found, expected = answer("file", np.frombuffer(data, np.uint8)), load(data)
        assert found.keys() == expected.keys()
        for name, tensor in expected.items():
            np.testing.assert_array_equal(found[name], tensor.double().numpy())


def test_the_logits_of_gpt2_are_those_of_transformers():
    """Catches a reference that is wrong in the same way as its author."""
    for act, eps in (("gelu_new", 1e-5), ("relu", 0.1)):
        config = transformers.GPT2Config(
            37, 11, 12, 2, 3, 29, activation_function=act, layer_norm_epsilon=eps, bos_token_id=0, eos_token_id=0
        )
        model = randomise_parameters(transformers.GPT2LMHeadModel(config))
        ids = torch.randint(37, (9,))
        with torch.no_grad():
            expected = model(ids[None]).logits[0].numpy()
        theirs = arrays(model)
        found = answer("logits", theirs, config.to_dict(), ids.numpy())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_the_logits_of_bert_are_those_of_transformers():
    config = transformers.BertConfig(
        37, 12, 2, 3, 29, max_position_embeddings=13, hidden_act="gelu", layer_norm_eps=1e-12
    )
    model = randomise_parameters(transformers.BertForMaskedLM(config))
    w, renamed = arrays(model), {}
    for ours, theirs in {
        "tokens": "bert.embeddings.word_embeddings.weight",
        "positions": "bert.embeddings.position_embeddings.weight",
        "types": "bert.embeddings.token_type_embeddings.weight",
        "head.bias": "cls.predictions.bias",
    }.items():
        renamed[ours] = w[theirs]
    layers = {"norm": "bert.embeddings.LayerNorm", "transform": "cls.predictions.transform.dense"}
    layers["transform_norm"] = "cls.predictions.transform.LayerNorm"
    for i in range(2):
        layers |= {
            f"blocks.{i}.{ours}": f"bert.encoder.layer.{i}.{theirs}"
            for ours, theirs in {
                "q": "attention.self.query",
                "k": "attention.self.key",
                "v": "attention.self.value",
                "out": "attention.output.dense",
                "norm_1": "attention.output.LayerNorm",
                "up": "intermediate.dense",
                "down": "output.dense",
                "norm_2": "output.LayerNorm",
            }.items()
        }
    for ours, theirs in layers.items():
        renamed |= {f"{ours}.{kind}": w[f"{theirs}.{kind}"] for kind in ("weight", "bias")}
    ids, types, real = np.arange(9) * 4, np.array([0] * 4 + [1] * 3 + [0] * 2), np.arange(9) < 7
    with torch.no_grad():
        expected = model(
            torch.tensor(ids)[None], torch.tensor(real)[None].long(), token_type_ids=torch.tensor(types)[None]
        ).logits[0]
    found = answer("museum", renamed, config.to_dict(), ids, types, real)
    np.testing.assert_allclose(found[real], expected.numpy()[real], rtol=0, atol=1e-11)


def test_the_example_file():
    names = scope("file-example")
    assert names["lines"] == snapshot(["80 bytes, the first eight: 64 0 0 0 0 0 0 0"])
    assert answer("file", names["EXAMPLE"])["a"].tolist() == [[1], [-2]] and "has 80 bytes" in task("file")
    with pytest.raises(ValueError, match="79"):
        answer("file", names["EXAMPLE"][:-1])


def test_thirds_of_a_small_matrix():
    theirs = {"wte.weight": np.ones((3, 2)), "wpe.weight": np.ones((3, 2))}
    for place, shape in (
        ("attn.c_attn", (2, 6)),
        ("attn.c_proj", (2, 2)),
        ("mlp.c_fc", (2, 5)),
        ("mlp.c_proj", (5, 2)),
    ):
        weight = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        theirs |= {f"h.0.{place}.weight": weight, f"h.0.{place}.bias": weight[0]}
    for norm in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        theirs |= {f"{norm}.weight": np.ones(2), f"{norm}.bias": np.ones(2)}
    assert answer("names", theirs)["blocks.0.q.weight"].tolist() == [[1, 7], [2, 8]]
    whole = np.arange(1, 13).reshape(2, 6).tolist()
    assert in_one_breath(task("names"), str(whole), "`q.weight`", "[[1, 7], [2, 8]]")


def test_what_a_patch_cannot_change():
    """Catches an example of the task that does not hold, for each of the right answers."""
    for entry in course_exercise(SLUG).right.of("patch"):
        torch.manual_seed(0)
        patching = entry.function(11, 12, 2, 3)
        ids, other = torch.randint(11, (2, 4, 5))
        wanted = torch.randint(11, (4,))
        same = patching(ids, ids, wanted)
        torch.testing.assert_close(same, same[:, :1, :1].expand(4, 3, 5))
        found = patching(ids, other, wanted)
        torch.testing.assert_close(found[:, -1, :-1], same[:, -1, :-1])
        assert (found[:, -1, -1] - same[:, -1, -1]).abs().max() > 0.1
    assert in_one_breath(task("patch"), "if `other` is `ids`", "all numbers of a text are the same")
    assert in_one_breath(task("patch"), "In the last block", "only the last column")


def test_a_layer_of_width_one_is_folded():
    def pair(W, b):
        return np.array([[float(W)]]), np.array([float(b)])

    layer = {"norm": (np.array([2.0]), np.array([3.0])), "q": pair(1, 1), "k": pair(1, 1), "v": pair(5, 7)}
    found = answer("fold", layer | {"out": pair(10, 1)})
    assert [float(part.squeeze()) for name in ("v", "out") for part in found[name]] == [10, 0, 10, 221]
    assert in_one_breath(task("fold"), "v is (10, 0)", "out (10, 221)")


def test_both_gelus_at_one():
    names = scope("given-maps")
    exact, by_tanh = (f"{names[name](1.0):.4f}" for name in ("gelu", "gelu_tanh"))
    assert (exact, by_tanh) == ("0.8413", "0.8412")
    assert in_one_breath(task("museum"), "exact GELU", exact, "tanh", by_tanh)


def test_a_model_without_blocks():
    theirs = {"wte.weight": np.array([[1.0, 0], [0, 1], [1, 1]]), "wpe.weight": np.zeros((1, 2))}
    theirs |= {"ln_f.weight": np.ones(2), "ln_f.bias": np.zeros(2)}
    config = {"n_head": 1, "n_layer": 0, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
    np.testing.assert_allclose(answer("logits", theirs, config, np.array([0])), [[1, -1, 0]], atol=1e-4)
    assert "logits are 1, −1 and 0" in task("logits")


def test_the_museum_piece_is_the_known_mistake_and_its_loss_looks_fine():
    """Catches a museum piece that was edited without its wrong solution, and an example that gives it away."""
    names = scope("given-maps", "given-attend", "museum-piece", "museum-model", "museum-experiments")
    w, config = names["small_bert"]()
    rest = np.arange(9), np.array([0] * 4 + [1] * 5), np.arange(9) < 7
    found = names["museum_logits"](w, config, *rest)
    np.testing.assert_allclose(found, wrong_answers("museum")["museum_piece"](w, config, *rest), rtol=0, atol=1e-12)
    names["compare"](names["museum_logits"], course_exercise(SLUG).right.of("museum")[0].function)
    one, other, apart = (float(line.split(": ")[1]) for line in names["lines"])
    assert abs(one - other) < 0.01 * other and apart > 0.5


def cells(*ids) -> dict:
    """The names of these cells after all imports of the notebook, with what they print."""
    names = {"lines": []}
    imports = cell(course_exercise(SLUG).learner, "start-setup").replace('exercise("12-pretrained")', "")
    for text in (imports, *(cell(course_exercise(SLUG).learner, id) for id in ids)):
        exec(text, names)
        names["print"] = lambda *values: names["lines"].append(" ".join(map(str, values)))
    return names


def test_a_right_model_writes_as_the_library_does_with_the_shipped_weights():
    """Catches names or layouts of the task that are not those of the file."""
    names = cells("model-given", "austen-load", "austen-write")
    read, model = (course_exercise(SLUG).right.of(id)[0].function for id in ("file", "model"))
    names["austen_writes"](read, model, n_tokens=2)
    assert names["lines"][0].startswith("It is a truth")
    assert float(names["lines"][1].split()[-1]) < 1e-3


def test_the_published_gpt2_runs_from_its_folder(tmp_path):
    """Catches options of a configuration under other names, on a folder as transformers writes it."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {f"w{i}": i for i in range(37)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    config = transformers.GPT2Config(37, 11, 12, 2, 3, 29, bos_token_id=0, eos_token_id=0)
    model = randomise_parameters(transformers.GPT2LMHeadModel(config))
    model.save_pretrained(tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    names = cells("published-write")
    read, logits = (course_exercise(SLUG).right.of(id)[0].function for id in ("file", "logits"))
    names["gpt2_writes"](read, logits, tmp_path, "w3 w4", 3)
    expected = model.generate(torch.tensor([[3, 4]]), max_new_tokens=3, do_sample=False, eos_token_id=None)[0].tolist()
    assert names["lines"] == [" ".join(f"w{i}" for i in expected)]
    names["gpt2_writes"](read, logits, tmp_path / "none")
    assert names["lines"][-1] == snapshot("There is no file model.safetensors in the folder none.")


ENDS = 'if len(data) != end:\n        raise ValueError(f"{len(data)} bytes came, {end} should have")'
HEADER = 'raise ValueError(f"{len(data)} bytes came, the header alone asks for {start}")'


WHOLE = "does not say how many bytes came: say how many bytes the whole file has, header included."
REFUSALS = {
    "": (HEADER, "pass", "your JSONDecodeError, a ValueError, does not say how many bytes came."),
    "header_not_counted": (ENDS, ENDS.replace("data)}", "data) - start}").replace("{end}", "{end - start}"), WHOLE),
    "what_came_alone": (ENDS, ENDS.replace(", {end} should have", ""), "does not say how many bytes should have come."),
    "no_figures": (ENDS, ENDS.replace("{len(data)} bytes came, {end}", "more"), "does not say how many bytes came."),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_a_refusal_lacks_is_told(name):
    """Catches a text with figures told that it has none, and an exception that the learner never wrote called his."""
    old, new, says = REFUSALS[name]
    told = graded_checks(SLUG, "file", edited_answer(SLUG, "file", "as_often_written", (old, new)))[3]
    assert says in told.message and (told.diagnosis.mistake if told.diagnosis else "") == name

"""Exercise 12, question names: from their names to ours."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery

from . import parts
from .names_checks import files_of_gpt2, right_layers, right_names, same_products

QUESTION = Question(
    id="names",
    title="From their names to ours",
    name="ours_from_gpt2",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        holds("names, norms and embeddings", 3, right_names),
        holds("queries, keys and values", 3, right_layers("q", "k", "v")),
        holds("out", 1, right_layers("out")),
        holds("up and down", 2, right_layers("up", "down")),
        equals("whole files", 2, files_of_gpt2(masks=True), parts.ours_from_gpt2),
        equals(
            "thirteen blocks, and no prefix",
            1,
            files_of_gpt2(settings=({"n_blocks": 13},), prefix=""),
            parts.ours_from_gpt2,
        ),
        equals("square matrices", 1, files_of_gpt2(settings=({"square": True, "n_blocks": 1},)), parts.ours_from_gpt2),
        holds("the same products", 1, same_products),
    ),
    hints=(
        "Write the table first: their name, our name, what happens to the array. How many of ours come from "
        "one of theirs, and which of theirs have no row?",
        "No shape can tell whether a matrix has to be turned: it depends on the layer. Which of the arrays "
        "with two axes belong to no layer of the kind `x @ W + b`?",
        "The columns of c_attn are the outputs: first all of q, then all of k, then all of v. Turn it first, "
        "and they lie one under the other. Cut the number of a block out at the dots, for `h.1` begins "
        "`h.11` too.",
    ),
    section="a-table-for-each-model",
    inputs=Inputs(no_sizes="a dict of arrays, of sizes of which none divides another"),
)

right, wrong = answers_to(QUESTION)


@right
def by_pattern(theirs):
    fixed = {"wte.weight": "tokens", "wpe.weight": "positions", "ln_f.weight": "norm.weight", "ln_f.bias": "norm.bias"}
    layers = {
        "ln_1": "norm_1",
        "ln_2": "norm_2",
        "attn.c_proj": "out",
        "mlp.c_fc": "up",
        "mlp.c_proj": "down",
    }
    ours = {}
    for full, array in theirs.items():
        name = full[len("transformer.") :] if full.startswith("transformer.") else full
        pieces = name.split(".")
        if name in fixed:
            ours[fixed[name]] = array.copy()
        elif pieces[0] == "h" and pieces[-2] == "c_attn":
            D = array.shape[-1] // 3
            for place, part in enumerate("qkv"):
                third = array[..., place * D : (place + 1) * D]
                ours[f"blocks.{pieces[1]}.{part}.{pieces[-1]}"] = np.transpose(third).copy()
        elif pieces[0] == "h" and ".".join(pieces[2:-1]) in layers:
            ours[f"blocks.{pieces[1]}.{layers['.'.join(pieces[2:-1])]}.{pieces[-1]}"] = np.transpose(array).copy()
    return ours


@right
def from_our_side(theirs):
    def its(name):
        return theirs[name] if name in theirs else theirs["transformer." + name]

    ours = {"tokens": its("wte.weight"), "positions": its("wpe.weight")}
    ours |= {"norm.weight": its("ln_f.weight"), "norm.bias": its("ln_f.bias")}
    i = 0
    while any(name.endswith(f"h.{i}.ln_1.weight") for name in theirs):
        q, k, v = np.hsplit(its(f"h.{i}.attn.c_attn.weight"), 3)
        b_q, b_k, b_v = np.split(its(f"h.{i}.attn.c_attn.bias"), 3)
        block = {"q.weight": q.T, "k.weight": k.T, "v.weight": v.T, "q.bias": b_q, "k.bias": b_k, "v.bias": b_v}
        for mine, name in {"out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}.items():
            block |= {f"{mine}.weight": its(f"h.{i}.{name}.weight").T, f"{mine}.bias": its(f"h.{i}.{name}.bias")}
        for n in "12":
            block |= {f"norm_{n}.{kind}": its(f"h.{i}.ln_{n}.{kind}") for kind in ("weight", "bias")}
        ours |= {f"blocks.{i}.{name}": array for name, array in block.items()}
        i += 1
    return ours


@right
def rewritten_names(theirs):
    import re

    ours = {}
    for name, array in theirs.items():
        name = re.sub(r"^transformer\.", "", name)
        if re.search(r"\.attn\.(masked_)?bias$", name) or name == "lm_head.weight":
            continue
        if ".c_" in name and array.ndim == 2:
            array = np.einsum("io->oi", array)
        for old, new in (
            (r"^wte\.weight$", "tokens"),
            (r"^wpe\.weight$", "positions"),
            (r"^ln_f\.", "norm."),
            (r"^h\.", "blocks."),
            (r"\.ln_", ".norm_"),
            (r"attn\.c_proj", "out"),
            (r"mlp\.c_fc", "up"),
            (r"mlp\.c_proj", "down"),
        ):
            name = re.sub(old, new, name)
        if "attn.c_attn" in name:
            for part, third in zip("qkv", np.vsplit(array, 3) if array.ndim == 2 else np.split(array, 3), strict=True):
                ours[name.replace("attn.c_attn", part)] = third
        else:
            ours[name] = array
    return ours


@right
def as_often_written(theirs):
    plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
    ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
    n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
    for kind in ("weight", "bias"):
        ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
        for i in range(n_blocks):
            ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
            ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
            joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
            for part, third in zip("qkv", np.split(joined, 3), strict=True):
                ours[f"blocks.{i}.{part}.{kind}"] = third
            ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
            ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
            ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
    return ours


wrong.edits("""
# by_pattern
## counted_from_one: You count our blocks from 1; count from 0.
  pieces = name.split(".")
+ pieces[1] = str(int(pieces[1]) + 1) if pieces[0] == "h" else pieces[1]
# as_often_written
## shape_decides [a-file-that-almost-fits]: Wherever a matrix is not square you turn it, and where it is you do not: no
shape can decide that.
- plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
+ plain = {n.removeprefix("transformer."): a.T if len(set(a.shape)) == 1 else a for n, a in theirs.items()}
## nothing_turned [the-same-numbers-laid-out-otherwise]: The matrices are copied as they are, input × output; ours are
output × input.
- plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
+ plain = {name.removeprefix("transformer."): a.T if ".c_" in name else a for name, a in theirs.items()}
- for part, third in zip("qkv", np.split(joined, 3), strict=True):
+ for part, third in zip("qkv", np.split(joined, 3, axis=-1), strict=True):
## reshaped [the-same-numbers-laid-out-otherwise]: You cut c_attn by `reshape`, which takes the numbers row after row;
the three parts stand side by side in every row.
- joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
- for part, third in zip("qkv", np.split(joined, 3), strict=True):
+ joined = plain[f"h.{i}.attn.c_attn.{kind}"]
+ for part, third in zip("qkv", joined.reshape(3, *joined.shape[:-1], -1).swapaxes(1, -1), strict=True):
## reshaped_for_turned [the-same-numbers-laid-out-otherwise]: You reshape c_attn to 3D × D where it has to be turned:
that takes its numbers row after row, and the rows are no longer outputs.
- joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
+ joined = plain[f"h.{i}.attn.c_attn.{kind}"]
+ joined = joined.reshape(-1, len(plain["ln_f.bias"])) if kind == "weight" else joined
## square_not_turned [a-file-that-almost-fits]: The matrix that joins the heads is copied as it is, since it fits; it
has to be turned like the others.
- ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
+ ours[f"blocks.{i}.out.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"]
## everything_turned [the-same-numbers-laid-out-otherwise]: You turn embeddings and positions, too; just copy them.
- ours = {"tokens": plain["wte.weight"], "positions": plain["wpe.weight"]}
+ ours = {"tokens": plain["wte.weight"].T, "positions": plain["wpe.weight"].T}
## thirds_not_turned [the-same-numbers-laid-out-otherwise]: You do not turn the matrices for queries, keys and values.
- joined = plain[f"h.{i}.attn.c_attn.{kind}"].T
- for part, third in zip("qkv", np.split(joined, 3), strict=True):
+ joined = plain[f"h.{i}.attn.c_attn.{kind}"]
+ for part, third in zip("qkv", np.split(joined, 3, axis=-1), strict=True):
## cut_across [the-same-numbers-laid-out-otherwise]: c_attn is cut into three along its inputs; queries, keys and values
are thirds of its outputs.
+ joined = plain[f"h.{i}.attn.c_attn.{kind}"]
+ for part, third in zip("qkv", np.array_split(joined, 3), strict=True):
## keys_first [the-same-numbers-laid-out-otherwise]: The thirds are taken for keys, queries and values; the queries come
first.
- for part, third in zip("qkv", np.split(joined, 3), strict=True):
+ for part, third in zip("kqv", np.split(joined, 3), strict=True):
## values_second [the-same-numbers-laid-out-otherwise]: The second third is taken for the values; it is for the keys.
+ for part, third in zip("qvk", np.split(joined, 3), strict=True):
## every_third_row [the-same-numbers-laid-out-otherwise]: You take every third row for the queries; they come together,
as one third of the file's columns.
+ for part, third in zip("qkv", (joined[0::3], joined[1::3], joined[2::3]), strict=True):
## always_a_prefix [the-same-numbers-laid-out-otherwise]: You expect `transformer.` in front of every name; some files
have it nowhere.
- plain = {name.removeprefix("transformer."): array for name, array in theirs.items()}
+ plain = {name.partition("transformer.")[2]: array for name, array in theirs.items() if "transformer." in name}
## never_a_prefix [the-same-numbers-laid-out-otherwise]: Names that begin with `transformer.` are not found.
+ plain = dict(theirs)
## head_kept [the-same-numbers-laid-out-otherwise]: The head stands in your dict although it is a copy of the embedding
and has no name of ours.
          ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
+ if "lm_head.weight" in theirs:
+     ours["head"] = theirs["lm_head.weight"]
## mask_for_a_bias: Where a file holds the causal mask you take it for the bias of c_attn, since its name ends with
`attn.bias`.
- for part, third in zip("qkv", np.split(joined, 3), strict=True):
+ if kind == "bias" and f"h.{i}.attn.bias" in plain:
+     joined = plain[f"h.{i}.attn.bias"]
+ for part, third in zip("qkv", np.array_split(joined, 3), strict=True):
## bias_goes_with_the_mask: With the mask `attn.bias` you throw away the bias of c_attn, whose name ends alike.
+ for part, third in zip("qkv" if kind == "weight" else "", np.split(joined, 3), strict=False):
## bias_not_cut: You cut the matrix of c_attn into three, and give queries, keys and values its whole bias; cut that,
too.
- ours[f"blocks.{i}.{part}.{kind}"] = third
+ ours[f"blocks.{i}.{part}.{kind}"] = third if kind == "weight" else joined
## second_norm_twice: Both norms of a block get the numbers of ln_2; norm_1 is ln_1.
- ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
+ ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
## first_norm_twice: Both norms of a block get the numbers of ln_1; norm_2 is ln_2.
- ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
+ ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
## norms_exchanged: You swap the two norms of a block.
- ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
- ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
+ ours[f"blocks.{i}.norm_1.{kind}"] = plain[f"h.{i}.ln_2.{kind}"]
+ ours[f"blocks.{i}.norm_2.{kind}"] = plain[f"h.{i}.ln_1.{kind}"]
## up_and_down_exchanged: c_fc goes up, and the c_proj beside it comes down; yours are exchanged.
- ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
- ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
+ ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_fc.{kind}"].T
+ ours[f"blocks.{i}.up.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
## both_projections_alike: Two layers of a block are called c_proj, and you give both the weights of that in attention.
- ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.mlp.c_proj.{kind}"].T
+ ours[f"blocks.{i}.down.{kind}"] = plain[f"h.{i}.attn.c_proj.{kind}"].T
## one_digit: You read only one digit of a block's number, so that blocks from number 10 on are missing.
- n_blocks = 1 + max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
+ n_blocks = 1 + max(int(name[2]) for name in plain if name.startswith("h."))
## last_block_lost: You stop one block too early.
+ n_blocks = max(int(name.split(".")[1]) for name in plain if name.startswith("h."))
## biases_forgotten: You bring only weights over; bring biases, too.
- for kind in ("weight", "bias"):
+ for kind in ("weight",):
## last_norm_forgotten: The norm behind the last block is missing.
- ours[f"norm.{kind}"] = plain[f"ln_f.{kind}"]
## one_matrix_left: Queries, keys and values stay in one matrix; three are asked for.
- for part, third in zip("qkv", np.split(joined, 3), strict=True):
-     ours[f"blocks.{i}.{part}.{kind}"] = third
+ ours[f"blocks.{i}.qkv.{kind}"] = joined
""")

"""The drills of chapters 15 to 19: a layer cut over GPUs, experts, latents, states, adapters, attempts."""

import torch
from clearformer.experts import MixtureOfExperts, SharedExperts
from clearformer.latent import LatentAttention
from clearformer.layers import GatedFeedForward
from clearformer.lora import LowRank
from torch import empty, nn

from clearbook.drills.kind import Kind


def _cut(B, N, T, a, f, D, F):
    up, down = empty(F, D).chunk(T, dim=0)[0], empty(D, F).chunk(T, dim=1)[0]
    hidden = empty(B, N, D) @ up.mT
    summand = hidden @ down.mT
    piece = summand.flatten().chunk(T)[0]
    sent = sum(piece.numel() for _ in ("sums", "copies") for _ in range(T - 1))
    return {"up": up, "down": down, "hidden": hidden, "summand": summand, "sent": sent}


def _experts(D, F, E, k):
    routed = MixtureOfExperts(D, F, n_experts=E, top_k=k, expert=GatedFeedForward, bias=False)
    layer = SharedExperts(
        D, F, d_shared=F, routed=lambda *sizes, **options: routed, expert=GatedFeedForward, bias=False
    )
    in_all = sum(p.numel() for p in layer.parameters())
    resting = sum(p.numel() for expert in [*routed.experts][k:] for p in expert.parameters())
    return {"in_all": in_all, "at_work": in_all - resting}


def _latent(D, H, R, T, U, V):
    layer = LatentAttention(D, H, d_latent=R, d_turned=T, d_unturned=U, d_value=V)
    kept = layer.down(empty(1, D)).numel()
    unpacked = layer.up(empty(1, R)).numel() + H * T
    return {"down": layer.down.weight, "up": layer.up.weight, "kept": kept, "unpacked": unpacked}


def _state(B, H, N, K, V):
    keys, values = empty(B, H, N, K), empty(B, H, N, V)
    S, z = values.mT @ keys, keys.sum(dim=2)
    return {"S": S, "z": z, "kept": S.numel() + z.numel(), "cached": keys.numel() + values.numel()}


def _adapter(D, E, r):
    layer = LowRank(nn.Linear(D, E, bias=False), r)
    trained = [p for p in layer.parameters() if p.requires_grad]
    moments = [torch.empty_like(p, dtype=torch.float32) for p in trained for _ in ("mean", "square")]
    numbers, taken = sum(p.numel() for p in trained), sum(moment.nbytes for moment in moments)
    return {"A": layer.A, "B": layer.B, "trained": numbers, "moments": taken}


def _attempts(P, n, Q, M, V):
    questions, answers = empty(P, Q, dtype=torch.long), empty(P * n, M, dtype=torch.long)
    rows = torch.cat([questions.repeat_interleave(n, dim=0), answers], dim=1)
    logits = empty(*rows[:, :-1].shape, V)
    log_p = logits[:, Q - 1 :].log_softmax(dim=2).gather(2, rows[:, Q:, None])[..., 0]
    return {"rows": rows, "logits": logits, "log_p": log_p, "rewards": log_p.sum(dim=1).view(P, n)}


LATER = {
    "cut": Kind(
        _cut,
        {"B": range(2, 9), "N": range(3, 20), "T": range(3, 10), "a": range(3, 20), "f": range(20, 40)},
        {"D": "a * T", "F": "f * T"},
        "A feed-forward network of width D = {D} and hidden width F = {F}, without biases, is cut by hidden units over "
        "T = {T} GPUs. Each gets all B = {B} sequences of N = {N} tokens. Shapes of the share that one GPU has of the "
        "two weights, `up` and `down` (output × input), of its `hidden` units and of its `summand` of the output? The "
        "summands are added in a ring, a T-th of the numbers a step: how many numbers are `sent` by each GPU?",
        {
            "up": "(F // T, D)",
            "down": "(D, F // T)",
            "hidden": "(B, N, F // T)",
            "summand": "(B, N, D)",
            "sent": "2 * (T - 1) * B * N * D // T",
        },
        {
            "sent": {
                "(T - 1) * B * N * D // T": "after so many each sum is complete, on one GPU. The others want it, too.",
                "2 * (T - 1) * B * N * D": "in each step only a T-th of the numbers travels.",
                "2 * B * N * D": "nearly: a GPU need not send to itself.",
            }
        },
    ),
    "experts": Kind(
        _experts,
        {"D": range(256, 4_097, 64), "F": range(64, 1_025, 32), "E": range(9, 129), "k": range(2, 9)},
        {},
        "A layer of width D = {D} has E = {E} experts, of which a router without biases chooses k = {k} for each "
        "token, and one more that every token passes. All are gated, with a hidden width of F = {F} and no biases. How "
        "many weights are there `in_all`, and how many are `at_work` for one token?",
        {"in_all": "D * E + 3 * (E + 1) * D * F", "at_work": "D * E + 3 * (k + 1) * D * F"},
        {
            "in_all": {
                "3 * (E + 1) * D * F": "the router has a row for each expert.",
                "D * E + 3 * E * D * F": "the shared expert is missing.",
                "D * E + 2 * (E + 1) * D * F": "a gated layer has three matrices.",
            },
            "at_work": {
                "3 * (k + 1) * D * F": "the router looks at every expert.",
                "D * E + 3 * k * D * F": "the shared expert works for every token.",
            },
        },
    ),
    "latent": Kind(
        _latent,
        {
            "D": range(512, 8_193, 128),
            "H": range(8, 129),
            "R": range(130, 1_025, 32),
            "T": range(16, 97, 8),
            "U": range(66, 257, 16),
            "V": range(68, 257, 16),
        },
        {},
        "Latent attention of width D = {D} has H = {H} heads. A token keeps a latent vector of R = {R} numbers and one "
        "turned key of T = {T}, which all heads share. From the latent vector each head makes U = {U} numbers of a key "
        "that is not turned and a value of V = {V}. Shapes of the weight `down`, which makes what is kept, and of "
        "`up`, which makes keys and values of all heads from the latent (output × input)? How many numbers are `kept` "
        "for a token, and how many would keys and values of all heads be, `unpacked`, each key with a turned part?",
        {"down": "(R + T, D)", "up": "(H * (U + V), R)", "kept": "R + T", "unpacked": "H * (U + T + V)"},
        {
            "kept": {
                "R": "the turned key is kept beside it.",
                "2 * (R + T)": "keys and values come from one latent.",
                "R + H * T": "all heads share the turned key.",
            },
            "unpacked": {"H * (U + V)": "each key has a turned part, too."},
        },
    ),
    "state": Kind(
        _state,
        {"B": range(2, 9), "H": range(2, 17), "N": range(512, 8_193), "K": range(32, 129), "V": range(33, 257)},
        {},
        "Linear attention has H = {H} heads with keys of width K = {K} and values of width V = {V}, and reads B = {B} "
        "texts of N = {N} tokens. Shapes of the state `S` of all heads (values × keys) and of the denominators' `z`? "
        "How many numbers are `kept` in both, and how many would be `cached` as keys and values?",
        {
            "S": "(B, H, V, K)",
            "z": "(B, H, K)",
            "kept": "B * H * (V * K + K)",
            "cached": "B * H * N * (K + V)",
        },
        {
            "kept": {
                "B * H * V * K": "the denominator needs a sum of keys.",
                "B * H * N * (V * K + K)": "a state does not grow with the text.",
            },
            "cached": {"B * H * N * K": "keys or values; both are kept."},
        },
    ),
    "adapter": Kind(
        _adapter,
        {"D": range(256, 8_193, 64), "E": range(288, 8_193, 64), "r": range(2, 65)},
        {},
        "Beside a frozen map from D = {D} to E = {E} numbers an adapter of rank r = {r} is trained. Shapes of `A`, "
        "which reads the input, and of `B`, which writes the output (output × input)? How many numbers are `trained`, "
        "and how many bytes do Adam's `moments` take for them, in float32?",
        {"A": "(r, D)", "B": "(E, r)", "trained": "r * (D + E)", "moments": "8 * r * (D + E)"},
        {
            "trained": {
                "r * D": "there are two thin matrices.",
                "D * E": "that is the map itself, which rests.",
                "D * E + r * (D + E)": "the map itself rests.",
            },
            "moments": {
                "4 * r * (D + E)": "there are two moments for each number.",
                "8 * D * E": "only what is trained has moments.",
            },
        },
    ),
    "attempts": Kind(
        _attempts,
        {"P": range(2, 20), "n": range(2, 17), "Q": range(3, 20), "M": range(3, 30), "V": range(50, 60_000)},
        {},
        "For each of P = {P} problems, whose questions have Q = {Q} tokens, a model makes n = {n} attempts of M = {M} "
        "tokens. Shapes of the `rows` of question and answer, one for each attempt; of the `logits` when all of a row "
        "but its last token is read (vocabulary: V = {V}); of `log_p`, the log-probability of each token of an answer; "
        "and of the `rewards`, a row for each problem?",
        {"rows": "(P * n, Q + M)", "logits": "(P * n, Q + M - 1, V)", "log_p": "(P * n, M)", "rewards": "(P, n)"},
    ),
}

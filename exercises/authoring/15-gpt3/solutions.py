"""Right solutions of exercise 15, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# parameters


@right("parameters")
def tensor_by_tensor(V, N, D, M, F, tied, with_b, norm):
    shapes = [(V, D), (N, D)] + ([] if tied else [(V, D)])
    for _ in range(M):
        for rows, columns in ((3 * D, D), (D, D), (F, D), (D, F)):
            shapes.append((rows, columns))
            if with_b:
                shapes.append((rows,))
    norms = 2 * M + 1
    shapes += [(D,)] * norms * (2 if norm == "LayerNorm" else 1)
    return sum(int(np.prod(shape)) for shape in shapes)


@right("parameters")
def one_formula(V, N, D, M, F, tied, with_b, norm):
    scale = {"LayerNorm": 2, "RMSNorm": 1}[norm]
    return (2 - tied) * V * D + N * D + M * (4 * D * D + 2 * D * F + with_b * (5 * D + F)) + (2 * M + 1) * scale * D


@right("parameters")
def adding_up(V, N, D, M, F, tied, with_b, norm):
    total = V * D
    total += N * D
    if not tied:
        total += V * D
    for _ in range(M):
        total += D * D * 4
        total += D * F * 2
        if with_b:
            total += 4 * D + F + D
        total += D + D
        if norm == "LayerNorm":
            total += D + D
    total += D
    if norm == "LayerNorm":
        total += D
    return total


# step


@right("step")
def product_by_product(V, N, D, M, F):
    def product(a, b, c):
        return 2 * a * b * c

    maps = 4 * product(D, D, N) + product(F, D, N) + product(D, F, N)
    pairs = product(N, D, N) + product(D, N, N)
    left = sum(2 * 2 * D * (n + 1) for n in range(N))
    head = product(V, D, N)
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": forward + 2 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 4 * M * (maps + pairs) + 3 * head,
    }


@right("step")
def by_token(V, N, D, M, F):
    weights = M * (4 * D**2 + 2 * D * F)
    token = 2 * (weights + V * D) + 4 * M * D * N
    flops = {"forward": N * token, "step": 3 * N * token}
    flops["masked"] = 6 * N * (weights + V * D) + 6 * M * D * N * (N + 1)
    flops["recomputed"] = flops["step"] + N * (token - 2 * V * D)
    return flops


@right("step")
def phases(V, N, D, M, F):
    pairs = {"all": N * N, "left": N * (N + 1) // 2}
    inside = {k: M * (8 * N * D * D + 4 * N * D * F + 4 * D * p) for k, p in pairs.items()}
    top = 2 * N * V * D
    return dict(
        forward=inside["all"] + top,
        step=3 * (inside["all"] + top),
        masked=3 * (inside["left"] + top),
        recomputed=4 * inside["all"] + 3 * top,
    )


# memory


@right("memory")
def a_ladder(P, R, precision, cut):
    most = -(-P // R)
    held = {"weights": P, "gradients": P, "copy": P, "moments": 2 * P}
    if cut != "nothing":
        held.update(copy=most, moments=2 * most)
    if cut in ("gradients", "all"):
        held["gradients"] = most
    if cut == "all":
        held["weights"] = most
    size = {"32 bits": 4, "mixed": 2, "16 bits": 2}[precision]
    wide = 4 if precision == "mixed" else size
    sizes = {"weights": size, "gradients": size, "copy": 4 * (precision == "mixed"), "moments": wide}
    return {kind: sizes[kind] * number for kind, number in held.items()}


@right("memory")
def branches(P, R, precision, cut):
    n = P // R + (P % R > 0)
    if precision == "32 bits":
        w, g, c, m = 4, 4, 0, 8
    elif precision == "mixed":
        w, g, c, m = 2, 2, 4, 8
    else:
        w, g, c, m = 2, 2, 0, 4
    if cut == "nothing":
        return {"weights": w * P, "gradients": g * P, "copy": c * P, "moments": m * P}
    if cut == "moments":
        return {"weights": w * P, "gradients": g * P, "copy": c * n, "moments": m * n}
    if cut == "gradients":
        return {"weights": w * P, "gradients": g * n, "copy": c * n, "moments": m * n}
    return {"weights": w * n, "gradients": g * n, "copy": c * n, "moments": m * n}


@right("memory")
def who_is_cut(P, R, precision, cut):
    divided = {
        "nothing": set(),
        "moments": {"copy", "moments"},
        "gradients": {"copy", "moments", "gradients"},
        "all": {"copy", "moments", "gradients", "weights"},
    }[cut]
    each = np.array([4, 4, 0, 8]) if precision == "32 bits" else np.array([2, 2, 0, 4])
    if precision == "mixed":
        each = np.array([2, 2, 4, 8])
    names = ("weights", "gradients", "copy", "moments")
    return {name: int(b) * ((P - 1) // R + 1 if name in divided else P) for name, b in zip(names, each, strict=True)}


# split


@right("split")
def bias_for_the_first(W_1, b_1, W_2, b_2, R):
    parts = []
    for worker, units in enumerate(np.array_split(np.arange(len(b_1)), R)):
        parts.append((W_1[units], b_1[units], W_2[:, units], b_2 if worker == 0 else 0 * b_2))
    return parts


@right("split")
def three_lists(W_1, b_1, W_2, b_2, R):
    rows, lifts, columns = np.array_split(W_1, R), np.array_split(b_1, R), np.array_split(W_2.T, R)
    return [(rows[r], lifts[r], columns[r].T, b_2 * (r == 0)) for r in range(R)]


@right("split")
def bounds(W_1, b_1, W_2, b_2, R):
    least, more = divmod(W_1.shape[0], R)
    start, parts = 0, []
    for r in range(R):
        stop = start + least + (1 if r < more else 0)
        own = slice(start, stop)
        parts.append((W_1[own, :].copy(), b_1[own].copy(), W_2[:, own].copy(), np.zeros(len(b_2))))
        start = stop
    parts[0] = (*parts[0][:3], b_2.copy())
    return parts


# museum


@right("museum")
def one_batch(W, shards, rate, limit, decay):
    X = np.hstack([X for X, _ in shards])
    Y = np.hstack([Y for _, Y in shards])
    apart = W @ X - Y
    G = apart @ X.T * (2 / len(X.T))
    norm = np.linalg.norm(G)
    if norm > limit:
        G = G * (limit / norm)
    return W - rate * (G + decay * W)


@right("museum")
def weighted_means(W, shards, rate, limit, decay):
    n = np.array([X.shape[1] for X, _ in shards], dtype=float)
    total = np.zeros_like(W)
    for (X, Y), count in zip(shards, n, strict=True):
        if count:
            total += count / n.sum() * (2 * (W @ X - Y) @ X.T / count)
    length = float(np.sqrt((total * total).sum()))
    factor = 1.0 if length <= limit else limit / length
    return (1 - rate * decay) * W - rate * factor * total


@right("museum")
def token_by_token(W, shards, rate, limit, decay):
    G, seen = np.zeros(W.shape), 0
    for X, Y in shards:
        for t in range(X.shape[1]):
            G = G + 2 * np.outer(W @ X[:, t] - Y[:, t], X[:, t])
            seen += 1
    G = G / seen
    G = G / max(1.0, np.linalg.norm(G) / limit)
    return W - rate * G - rate * decay * W


# pipeline


@right("pipeline")
def look_up(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            before = F[k - 1, i] if k else 0
            mine = F[k, i - 1] if i else 0
            F[k, i] = max(before, mine) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            after = B[k + 1, i] if k < w - 1 else 0
            mine = B[k, i - 1] if i else F[k, m - 1]
            B[k, i] = max(after, mine) + backward[k]
    end = float(B[0, -1])
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@right("pipeline")
def events(forward, backward, m):
    w = len(forward)
    tasks = {k: [("f", i) for i in range(m)] + [("b", i) for i in range(m)] for k in range(w)}
    clock, over = [0.0] * w, {}
    while any(tasks.values()):
        for k in range(w):
            while tasks[k]:
                kind, i = tasks[k][0]
                other = k - 1 if kind == "f" else k + 1
                need = (kind, other, i) if 0 <= other < w else None
                if need is not None and need not in over:
                    break
                begin = max(clock[k], over.get(need, 0.0))
                clock[k] = over[kind, k, i] = begin + (forward[k] if kind == "f" else backward[k])
                tasks[k].pop(0)
    end = max(clock)
    busy = np.array([m * forward[k] + m * backward[k] for k in range(w)])
    return {"end": end, "idle": (end - busy) / end, "predicted": 1 - m / (m + w - 1)}


@right("pipeline")
def rolling(forward, backward, m):
    arrive, last = [0.0] * m, []
    for duration in forward:
        leave, now = [], 0.0
        for moment in arrive:
            now = max(now, moment) + duration
            leave.append(now)
        arrive = leave
        last.append(now)
    arrive = [0.0] * m
    for duration, now in zip(backward[::-1], last[::-1], strict=True):
        leave = []
        for moment in arrive:
            now = max(now, moment) + duration
            leave.append(now)
        arrive = leave
    w, end = len(forward), arrive[-1]
    return {
        "end": end,
        "idle": np.array([(end - m * (f + b)) / end for f, b in zip(forward, backward, strict=True)]),
        "predicted": (w - 1) / (w - 1 + m),
    }


@right("pipeline")
def closed_form(forward, backward, m):
    f, b, w = np.asarray(forward), np.asarray(backward), len(forward)
    end = sum(phase.sum() + (m - 1) * phase.max() for phase in (f, b))
    return {"end": end, "idle": (end - m * f - m * b) / end, "predicted": (w - 1) / (w + m - 1)}


# adam


@right("adam")
def piece_by_piece(weights, gradients, states, t, rate, betas, eps):
    b_1, b_2 = betas
    R, new, kept = len(states), [], []
    ends = np.cumsum([len(m) for m, _ in states])
    for r in range(R):
        own = slice(ends[r] - len(states[r][0]), ends[r])
        g = np.mean(gradients[:, own], axis=0)
        m = b_1 * states[r][0] + (1 - b_1) * g
        v = b_2 * states[r][1] + (1 - b_2) * g * g
        kept.append((m, v))
        new.append(weights[own] - rate * (m / (1 - b_1**t)) / (np.sqrt(v / (1 - b_2**t)) + eps))
    return np.concatenate(new), kept


@right("adam")
def number_by_number(weights, gradients, states, t, rate, betas, eps):
    R, after, at = len(states), np.array(weights), 0
    new_states = []
    for m, v in states:
        m_new, v_new = np.empty_like(m), np.empty_like(v)
        for k in range(len(m)):
            g = sum(gradients[r, at] for r in range(R)) / R
            m_new[k] = betas[0] * m[k] + (1 - betas[0]) * g
            v_new[k] = betas[1] * v[k] + (1 - betas[1]) * g**2
            m_hat, v_hat = m_new[k] / (1 - betas[0] ** t), v_new[k] / (1 - betas[1] ** t)
            after[at] = weights[at] - rate * m_hat / (v_hat**0.5 + eps)
            at += 1
        new_states.append((m_new, v_new))
    return after, new_states


@right("adam")
def average_first(weights, gradients, states, t, rate, betas, eps):
    def update(w, g, state):
        m = state[0] + (1 - betas[0]) * (g - state[0])
        v = state[1] + (1 - betas[1]) * (g**2 - state[1])
        root = np.sqrt(v) / np.sqrt(1 - betas[1] ** t)
        return w - rate / (1 - betas[0] ** t) * m / (root + eps), (m, v)

    R = len(states)
    average = np.array_split(np.full(R, 1 / R) @ gradients, R)
    done = [update(*each) for each in zip(np.array_split(weights, R), average, states, strict=True)]
    return np.concatenate([w for w, _ in done]), [state for _, state in done]


SOLUTIONS = right

"""Right solutions of exercise 10, written in different ways; the first of each is near the notebook's own."""

import numpy as np
from clearcheck import Solutions

right = Solutions()
SOLUTIONS = right


def mix(tokens):
    return tokens + tokens.mean(axis=1, keepdims=True)


# count


@right("count")
def part_by_part(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    first = (C * s * s + 1) * D
    positions = (N + 1) * D if class_token else N * D
    attention, network, norm = 4 * D * (D + 1), F * (D + 1) + D * (F + 1), 2 * D
    total = first + positions + M * (attention + network + 2 * norm) + norm + classes * (D + 1)
    return total + D if class_token else total


@right("count")
def from_shapes(rows, columns, C, s, D, F, M, classes, class_token):
    N = rows * columns // s**2
    block = [(D, D), D] * 4 + [(F, D), F, (D, F), D] + [D, D] * 2
    outside = [(D, C * s**2), D, (N, D), D, D, (classes, D), classes] + [D, D] * class_token
    return int(sum(np.prod(shape) for shape in outside + block * M))


@right("count")
def powers_of_the_width(rows, columns, C, s, D, F, M, classes, class_token):
    patches = rows * columns // (s * s)
    linear = C * s * s + 1 + patches + 2 * int(class_token) + 2 + classes + M * (2 * F + 9)
    return 4 * M * D**2 + linear * D + M * F + classes


# tokens


@right("tokens")
def transposed_cells(images, s, W, b, c, P):
    B, C, height, width = images.shape
    down, across = height // s, width // s
    squares = np.moveaxis(images.reshape(B, C, down, s, across, s), 4, 3)  # B C down across s s
    patches = np.moveaxis(squares, 1, 3).reshape(B, down * across, -1)
    return np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1) + P


@right("tokens")
def square_by_square(images, s, W, b, c, P):
    made = [np.tile(c + P[0], (len(images), 1))]
    for top in range(0, images.shape[2], s):
        for left in range(0, images.shape[3], s):
            square = images[:, :, top : top + s, left : left + s].reshape(len(images), -1)
            made.append(square @ W.T + b + P[len(made)])
    return np.stack(made, axis=1)


@right("tokens")
def as_a_convolution(images, s, W, b, c, P):
    kernels = W.reshape(len(W), images.shape[1], s, s)
    x = np.empty((len(images), *P.shape))
    x[:, 0] = c
    across = images.shape[3] // s
    for n in range(1, len(P)):
        i, j = divmod(n - 1, across)
        square = images[:, :, i * s : i * s + s, j * s : j * s + s]
        x[:, n] = np.einsum("bcyx,dcyx->bd", square, kernels) + b
    return x + P


# pool


@right("pool")
def four_candidates(x, h):
    patches = x[:, 1:]
    candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
    return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())


@right("pool")
def with_closeness(x, h):
    letters = ""
    everything = x.sum(axis=1)
    rest = everything - x[:, 0]
    n_tokens = x.shape[1]
    for letter, made in zip("ABCD", (x[:, 0], rest, rest / (n_tokens - 1), everything / n_tokens), strict=True):
        if np.allclose(made, h, rtol=0, atol=1e-3):
            letters += letter
    return letters


@right("pool")
def as_rows_of_shares(x, h):
    n_tokens = x.shape[1]
    shares = np.zeros((4, n_tokens))
    shares[0, 0] = 1
    shares[1, 1:] = 1
    shares[2, 1:] = 1 / (n_tokens - 1)
    shares[3] = 1 / n_tokens
    gaps = np.abs(shares @ x - h[:, None]).max(axis=(0, 2))
    return "".join(np.array(list("ABCD"))[gaps <= 1e-3])


# look


@right("look")
def mean_then_share(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    return (looks / looks.sum(axis=1)[:, None]).reshape(len(looks), rows, -1)


@right("look")
def without_itself(A, rows):
    to_itself = A[:, :, 0, 0].mean(axis=1)
    looks = A[:, :, 0].mean(axis=1)[:, 1:] / (1 - to_itself)[:, None]
    looks = looks / looks.sum(axis=1, keepdims=True)  # what rounding has left over
    return np.stack([np.stack(np.split(line, rows)) for line in looks])


@right("look")
def image_by_image(A, rows):
    maps = []
    for heads in A:
        total = sum(head[0, 1:] for head in heads)
        maps.append(np.reshape(total / np.sum(total), (rows, -1)))
    return np.array(maps)


# hide


@right("hide")
def overwrite_the_visible(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    visible = order[:, :n_visible]
    each = np.arange(len(x))[:, None]
    y = np.broadcast_to(mask_token, x.shape).copy()
    y[each, visible] = encode(x[each, visible])
    hidden = np.full(noise.shape, True)
    hidden[each, visible] = False
    return y + P, hidden


@right("hide")
def argsort_of_argsort(x, noise, n_visible, mask_token, P, encode=mix):
    order = noise.argsort(axis=1)
    place = order.argsort(axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    return np.take_along_axis(shuffled, place[:, :, None], axis=1) + P, place >= n_visible


@right("hide")
def in_their_old_order(x, noise, n_visible, mask_token, P, encode=mix):
    tokens, hidden = [], []
    for image, own in zip(x, noise, strict=True):
        limit = np.sort(own)[n_visible - 1]
        seen = own <= limit
        line = np.where(seen[:, None], 0.0, mask_token)
        line[seen] = encode(image[seen][None])[0]
        tokens.append(line + P)
        hidden.append(~seen)
    return np.stack(tokens), np.stack(hidden)


# loss


@right("loss")
def only_where_hidden(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean = patches.mean(axis=-1, keepdims=True)
        variance = np.sum((patches - mean) ** 2, axis=-1, keepdims=True) / (patches.shape[-1] - 1)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = np.where(hidden[..., None], drawn - target, 0.0)
    n_numbers = hidden.sum() * drawn.shape[-1]
    return (gaps * gaps).sum() / n_numbers, 2 * gaps / n_numbers


@right("loss")
def with_chosen_rows(drawn, patches, hidden, normalise=False):
    guess, truth = drawn[hidden], patches[hidden]
    if normalise:
        truth = (truth - truth.mean(1)[:, None]) / np.sqrt(truth.var(1, ddof=1)[:, None] + 1e-6)
    gradient = np.zeros_like(drawn)
    gradient[hidden] = 2 * (guess - truth) / guess.size
    return np.mean((guess - truth) ** 2), gradient


@right("loss")
def patch_after_patch(drawn, patches, hidden, normalise=False):
    loss, gradient, n_hidden = 0.0, np.zeros(drawn.shape), np.count_nonzero(hidden)
    for b, n in zip(*np.nonzero(hidden), strict=True):
        target = patches[b, n]
        if normalise:
            target = (target - np.mean(target)) / (np.var(target, ddof=1) + 1e-6) ** 0.5
        gap = drawn[b, n] - target
        loss += np.mean(gap**2) / n_hidden
        gradient[b, n] = 2 * gap / (n_hidden * len(gap))
    return loss, gradient


# resize


@right("resize")
def tents(P, old, new):
    def shares(few, many):
        place = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
        return np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0)

    grid = P[1:].reshape(*old, -1)
    down, across = shares(old[0], new[0]), shares(old[1], new[1])
    larger = np.einsum("Rr,rcd,Cc->RCd", down, grid, across)
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@right("resize")
def with_interp(P, old, new):
    def stretched(line, many):
        places = (np.arange(many) + 0.5) * len(line) / many - 0.5
        return np.interp(places, np.arange(len(line)), line)

    grid = P[1:].reshape(old[0], old[1], P.shape[1])
    for axis in (0, 1):
        grid = np.apply_along_axis(stretched, axis, grid, new[axis])
    return np.vstack([P[:1], grid.reshape(-1, P.shape[1])])


@right("resize")
def neighbours_and_shares(P, old, new):
    grid = P[1:].reshape(*old, -1)
    for axis in range(2):
        place = (2 * np.arange(new[axis]) + 1) * old[axis] / (2 * new[axis]) - 0.5
        place = np.minimum(np.maximum(place, 0), old[axis] - 1)
        before = place.astype(int)
        after = np.minimum(before + 1, old[axis] - 1)
        share = np.expand_dims(place - before, (1, 2) if axis == 0 else (0, 2))
        grid = np.take(grid, before, axis) * (1 - share) + np.take(grid, after, axis) * share
    return np.concatenate((P[0][None], grid.reshape(new[0] * new[1], -1)))

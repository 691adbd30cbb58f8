"""Checks of exercise 10: images that are not square, more than one channel, and as many hidden patches as it comes."""

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.reference import tokens

SIZES = (4, 5, 6, 7, 9, 11, 13)  # no one divides another
CLOSE = 1e-9


def draw_sizes(rng, how_many, among=SIZES):
    return [int(size) for size in rng.choice(among, how_many, replace=False)]


def close(value, expected, limit=CLOSE):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=limit * max(1.0, float(np.abs(expected).max()))))


def shape_slip(value, shape):
    """A sentence when the value is no array of this shape, else None."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return None
    came = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return f"The result should be an array of shape {shape}; yours is {came}."


def pair_slip(value, first, second):
    """A sentence when the value is no pair of arrays of these shapes; None for a shape means a number."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return "The result should be a pair."
    for part, shape in zip(value, (first, second), strict=True):
        if shape is not None and (slip := shape_slip(part, shape)):
            return slip.replace("The result", "A part of the result")
    return None


# count


def count_reference(rows, columns, C, s, D, F, M, classes, class_token):
    """The sizes of all arrays, one after another."""
    n_positions = sum(1 for _ in range(0, rows, s) for _ in range(0, columns, s)) + int(class_token)
    shapes = [(D, C * s * s), (D,), (n_positions, D), (D,), (D,), (classes, D), (classes,)]
    shapes += [(1, D)] if class_token else []
    for _ in range(M):
        shapes += [(D, D), (D,)] * 4 + [(F, D), (F,), (D, F), (D,)] + [(D,)] * 4
    return int(sum(np.prod(shape) for shape in shapes))


def sizes_of_models(rng, class_token):
    cases = []
    for M in rng.choice([1, 2, 3, 5], 3, replace=False):
        down, across, D, F = draw_sizes(rng, 4, (10, 14, 17, 19, 22, 26))
        s, C, classes = draw_sizes(rng, 3, (3, 4, 5, 7))
        cases.append((down * s, across * s, C, s, D, F, int(M), classes, class_token))
    return cases


# tokens


def tokens_reference(images, s, W, b, c, P):
    def one(image):
        patches = W @ tokens.patches(image, s) + b[:, None]
        return np.concatenate([c[:, None], patches], axis=1).T + P

    return np.stack([one(image) for image in images])


def picture_sizes(rng):
    """Side of a patch, and batch, channels, rows and columns of patches, width; none divides another."""
    s = int(rng.choice([2, 3]))
    return s, *draw_sizes(rng, 1, (11, 17)), *draw_sizes(rng, 3, (3 if s == 2 else 2, 5, 7)), 13


def tokens_arguments(rng, n_images=None, one_patch=False, scale=1.0):
    s, B, C, down, across, D = picture_sizes(rng)
    B, down, across = n_images or B, 1 if one_patch else down, 1 if one_patch else across
    images = scale * rng.normal(size=(B, C, down * s, across * s))
    W = rng.normal(size=(D, C * s * s)) / np.sqrt(C * s * s)
    return images, s, W, rng.normal(size=D), rng.normal(size=D), rng.normal(size=(down * across + 1, D))


def ordinary_pictures(rng):
    return [tokens_arguments(rng), tokens_arguments(rng), tokens_arguments(rng, scale=1e4)]


def smallest_pictures(rng):
    return [tokens_arguments(rng, n_images=1), tokens_arguments(rng, one_patch=True)]


def painted_square(ask, rng):
    images, s, *rest = tokens_arguments(rng)
    before = ask(images, s, *rest)
    if slip := shape_slip(before, (len(images), len(rest[-1]), len(rest[0]))):
        return slip
    across = images.shape[3] // s
    row, column, image = 1, 1, 3
    painted = images.copy()
    painted[image, :, row * s : (row + 1) * s, column * s : (column + 1) * s] += 1.0
    moved = (np.abs(ask(painted, s, *rest) - before) > CLOSE).any(axis=2)
    if moved[np.arange(len(images)) != image].any():
        return "One square of one image was painted, and tokens of another image change."
    if moved[image].sum() != 1:
        return f"One square was painted, which is one patch; {int(moved[image].sum())} of your tokens change."
    if not moved[image, 1 + row * across + column]:
        return (
            f"The square in row {row} and column {column} was painted, counted from 0; your token "
            f"{int(np.flatnonzero(moved[image])[0])} changes, and patches are numbered row by row, from 1."
        )
    return None


def what_the_places_add(ask, rng):
    images, s, W, b, c, P = tokens_arguments(rng)
    came, still = ask(images, s, W, b, c, P), ask(images, s, W, b, c, 0 * P)
    if slip := shape_slip(came, (len(images), len(P), len(W))):
        return slip
    if not close(came - still, np.broadcast_to(P, came.shape)):
        return "With all positions at 0 every token should be less by exactly its own row of P; yours is not."
    if not close(came[:, 0], np.broadcast_to(c + P[0], came[:, 0].shape)):
        return "Token 0 should be the class token and its position, in every image; yours is something else."
    return None


# pool


def pools_reference(x, h):
    """Entry by entry."""
    n_images, n_tokens, D = x.shape

    def pooled(letter, b, d):
        if letter == "A":
            return x[b, 0, d]
        summands = [x[b, n, d] for n in range(0 if letter == "D" else 1, n_tokens)]
        return sum(summands) / (1 if letter == "B" else len(summands))

    def fits(letter):
        return all(abs(pooled(letter, b, d) - h[b, d]) <= 1e-3 for b in range(n_images) for d in range(D))

    return "".join(letter for letter in "ABCD" if fits(letter))


def pooled_by(letter, x):
    made = {"A": x[:, 0], "B": x[:, 1:].sum(1), "C": x[:, 1:].mean(1), "D": x.mean(1)}[letter]
    return made.round(5)


def last_tokens(rng, n_patches=None):
    B, N, D = draw_sizes(rng, 3)
    return rng.normal(size=(B, (n_patches or N) + 1, D)) + rng.normal(size=D)


def one_of_four(rng):
    cases = [(x, pooled_by(letter, x)) for letter in "ABCD" for x in [last_tokens(rng)]]
    x = last_tokens(rng)
    return [*cases, (x, np.median(x, axis=1).round(5)), (x, x.sum(axis=1).round(5))]


def hard_to_tell(rng):
    """One patch, tokens that are all alike, a class token in the middle of the patches, one image of two kinds."""
    single, alike, middle, mixed = last_tokens(rng, 1), last_tokens(rng), last_tokens(rng), last_tokens(rng)
    alike[:, 1:] = alike[:, :1]
    middle[:, 0] = middle[:, 1:].mean(axis=1)
    h = pooled_by("C", mixed)
    h[-1] = pooled_by("A", mixed)[-1]
    odd = pooled_by("B", mixed)
    odd[1, -1] -= 0.5
    cases = [(single, pooled_by("C", single)), (single, pooled_by("D", single)), (single, pooled_by("A", single))]
    return [*cases, (alike, pooled_by("A", alike)), (middle, pooled_by("D", middle)), (mixed, h), (mixed, odd)]


def near_the_limit(rng):
    """Gaps that are small beside the numbers and yet too large, and gaps everywhere that are just small enough."""
    cases = []
    for letter, gap in (("A", -0.02), ("B", 0.02), ("C", 0.0009), ("D", 0.0009)):
        x = 1e4 * last_tokens(rng)
        h = pooled_by(letter, x)
        if gap == 0.0009:
            h += gap * rng.choice([-1, 1], size=h.shape)
        else:
            h[0, 1] += gap
        cases.append((x, h))
    wide, drowned = 1e6 + 1e4 * last_tokens(rng), last_tokens(rng)
    h = pooled_by("A", drowned)
    h[1, -1] += 0.01
    return [*cases, (wide, pooled_by("C", wide) + 0.01), (drowned, h)]


# look


def map_reference(A, rows):
    """Patch by patch."""
    B, H, n_tokens, _ = A.shape
    maps = np.zeros((B, rows, (n_tokens - 1) // rows))
    for b, row, column in np.ndindex(maps.shape):
        maps[b, row, column] = sum(A[b, h, 0, 1 + row * maps.shape[2] + column] for h in range(H)) / H
    return maps / maps.sum(axis=(1, 2), keepdims=True)


def weights_of_heads(rng, one_patch=False, sharpness=1.0):
    """Heads differ in how much of their weight goes to the class token; each other target looks at one source."""
    rows, columns, B, H = [*draw_sizes(rng, 2, (2, 3, 5)), *draw_sizes(rng, 2, (7, 11))]
    rows, columns = (1, 1) if one_patch else (rows, columns)
    n_tokens = rows * columns + 1
    scores = sharpness * rng.normal(size=(B, H, n_tokens))
    scores[..., 0] += 2 * rng.normal(size=(B, H)) + 1
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    A = np.eye(n_tokens)[rng.integers(n_tokens, size=(B, H, n_tokens))]
    A[:, :, 0] = 0.9 * powers / powers.sum(axis=-1, keepdims=True) + 0.1 / n_tokens
    return A, rows


def ordinary_weights(rng):
    return [weights_of_heads(rng), weights_of_heads(rng), weights_of_heads(rng, one_patch=True)]


def sharp_weights(rng):
    return [weights_of_heads(rng, sharpness=3.0), weights_of_heads(rng, sharpness=5.0)]


def what_a_map_depends_on(ask, rng):
    A, rows = weights_of_heads(rng)
    before = ask(A, rows)
    if slip := shape_slip(before, (len(A), rows, (A.shape[2] - 1) // rows)):
        return slip
    if not close(before.sum(axis=(1, 2)), np.ones(len(A))):
        return "The map of every image should sum to 1; yours does not."
    other_targets = A.copy()
    other_targets[:, :, 1:] = np.roll(A[:, :, 1:], 1, axis=3)
    if not close(ask(other_targets, rows), before):
        return "Only what the class token takes counts, but your map changes when other targets look elsewhere."
    if not close(ask(A[:, ::-1].copy(), rows), before):
        return "The heads in another order are the same heads, but your map changes."
    if not close(ask(A[1:2], rows), before[1:2]):
        return "An image alone must have the same map as in its batch, but yours differs."
    return None


# hide


def restored_reference(x, noise, n_visible, mask_token, P):
    """Image by image, patch by patch."""
    restored, hidden = np.empty_like(x), np.ones(noise.shape, dtype=bool)
    for b in range(len(x)):
        visible = sorted(range(len(noise[b])), key=lambda n: noise[b, n])[:n_visible]
        mean = sum(x[b, n] for n in visible) / n_visible
        for n in range(len(noise[b])):
            hidden[b, n] = n not in visible
            restored[b, n] = (mask_token if hidden[b, n] else x[b, n] + mean) + P[n]
    return restored, hidden


def hiding_arguments(rng, n_patches=None, n_visible=None, scale=1.0):
    sizes = (5, 7, 9, 11, 13)
    N = n_patches or draw_sizes(rng, 1, sizes)[0]
    B, D = draw_sizes(rng, 2, [size for size in sizes if size != N])
    n_visible = n_visible or int(rng.integers(2, N // 2))  # never half of them
    x, P = scale * rng.normal(size=(B, N, D)), rng.normal(size=(N, D))
    return x, rng.random(size=(B, N)), n_visible, rng.normal(size=D), P


def ordinary_hiding(rng):
    return [
        hiding_arguments(rng, n_patches=13),
        hiding_arguments(rng, n_patches=9),
        hiding_arguments(rng, scale=1e4, n_patches=11),
    ]


def hiding_at_the_ends(rng):
    """One patch, one visible patch, and nothing hidden."""
    return [hiding_arguments(rng, 1, 1), hiding_arguments(rng, n_visible=1), hiding_arguments(rng, 7, 7)]


def nothing_hidden_gets_out(ask, rng):
    x, noise, n_visible, mask_token, P = hiding_arguments(rng, n_patches=11)
    came = ask(x, noise, n_visible, mask_token, P)
    if slip := pair_slip(came, x.shape, noise.shape):
        return slip
    before, hidden = came
    if hidden.dtype != bool:
        return "The second part of the result should hold truth values."
    if (hidden.sum(axis=1) != noise.shape[1] - n_visible).any():
        return "In every image all patches but n_visible are hidden; you mark another number."
    truly = noise > np.sort(noise, axis=1)[:, n_visible - 1 : n_visible]
    edited = x + truly[:, :, None] * rng.normal(size=x.shape)
    if not close(ask(edited, noise, n_visible, mask_token, P)[0], before):
        return "Something hidden gets out: after an edit of hidden patches alone your tokens change."
    edited = x.copy()
    edited[~truly] += rng.normal(size=edited[~truly].shape)
    moved = (np.abs(ask(edited, noise, n_visible, mask_token, P)[0] - before) > CLOSE).any(axis=2)
    if (moved & truly).any():
        return "A hidden patch is the mask token and a position; yours change with what the encoder sees."
    if not moved[~truly].all():
        return "After an edit of all visible patches their tokens should change, and some of yours stay."
    return None


# loss


def loss_reference(drawn, patches, hidden, normalise=False):
    """Hidden patch by hidden patch."""
    gradient, total, n_hidden, L = np.zeros_like(drawn), 0.0, int(hidden.sum()), drawn.shape[2]
    for b, n in np.argwhere(hidden):
        target = patches[b, n]
        if normalise:
            apart = target - sum(target) / L
            target = apart / np.sqrt(sum(apart**2) / (L - 1) + 1e-6)
        total += sum((drawn[b, n] - target) ** 2) / L
        gradient[b, n] = 2 * (drawn[b, n] - target) / (L * n_hidden)
    return total / n_hidden, gradient


def drawing(rng, *normalise, n_patches=None, scale=1.0):
    """As many hidden patches as it comes, at least one in the batch, once a whole image."""
    B, N, L = draw_sizes(rng, 3)
    N = n_patches or N
    drawn, patches = (
        scale * rng.normal(size=(B, N, L)),
        scale * (rng.normal(size=(B, N, L)) + rng.normal(size=(B, N, 1))),
    )
    hidden = rng.random(size=(B, N)) < rng.uniform(0.2, 0.9, size=(B, 1))
    hidden[0], hidden[1] = True, False
    return drawn, patches, hidden, *normalise


def plain_drawings(rng):
    return [drawing(rng), drawing(rng, False), drawing(rng, n_patches=1), drawing(rng, scale=1e4)]


def normalised_drawings(rng):
    """Also patches without spread, and with so little that the 0.000001 shows."""
    flat = drawing(rng, True)
    flat[1][0, 0], flat[1][0, 1] = 3.0, 1 + 1e-3 * rng.normal(size=flat[1].shape[2])
    return [drawing(rng, True), flat, drawing(rng, True, n_patches=1), drawing(rng, True, scale=1e4)]


def gradient_check(ask, rng):
    for normalise in (False, True):
        drawn, patches, hidden, _ = drawing(rng, normalise)
        came = ask(drawn, patches, hidden, normalise)
        if slip := pair_slip(came, None, drawn.shape):
            return slip
        if not np.isscalar(came[0]) and np.ndim(came[0]):
            return "The first part of the result should be one number."
        edited = drawn + ~hidden[:, :, None] * rng.normal(size=drawn.shape)
        if not np.allclose(ask(edited, patches, hidden, normalise)[0], came[0], rtol=1e-9, atol=0):
            return "What is drawn where nothing was hidden must not matter, but it changes your loss."
        direction = rng.normal(size=drawn.shape)
        there, back = (ask(drawn + step * direction, patches, hidden, normalise)[0] for step in (1e-4, -1e-4))
        slope, expected = float(np.sum(came[1] * direction)), (there - back) / 2e-4
        if not np.isclose(slope, expected, rtol=1e-5, atol=1e-8):
            return (
                f"Along a random direction your loss rises by {expected:.4g} per unit, and your gradient says "
                f"{slope:.4g}."
            )
    return None


# resize


def places_between(few, many):
    """For each of the many places the two old neighbours and the share of the second."""
    found = []
    for i in range(many):
        at = min(max((i + 0.5) * few / many - 0.5, 0.0), few - 1.0)
        below = min(int(at), few - 1)
        found.append((below, min(below + 1, few - 1), at - below))
    return found


def resize_reference(P, old, new):
    grid, made = P[1:].reshape(*old, -1), [P[0]]
    for top, bottom, down in places_between(old[0], new[0]):
        for left, right, across in places_between(old[1], new[1]):
            upper = (1 - across) * grid[top, left] + across * grid[top, right]
            lower = (1 - across) * grid[bottom, left] + across * grid[bottom, right]
            made.append((1 - down) * upper + down * lower)
    return np.stack(made)


def grid_arguments(rng, old, new):
    D = draw_sizes(rng, 1, (11, 13))[0]
    return rng.normal(size=(1 + old[0] * old[1], D)) + 1, old, new


def larger_grids(rng):
    a, b, c, d = draw_sizes(rng, 4, (3, 4, 5, 7))
    big, bigger = draw_sizes(rng, 2, (9, 10, 13))
    return [grid_arguments(rng, (a, b), (big, bigger)), grid_arguments(rng, (c, d), (2 * c, 3 * d))]


def other_grids(rng):
    """Along one axis only, smaller in one of them, from one patch, and from one row."""
    a, b = draw_sizes(rng, 2, (5, 7, 9))
    cases = [
        ((a, b), (a, 11)),
        ((a, b), (13, b)),
        ((a, b), (4, 11)),
        ((1, 1), (3, 4)),
        ((1, b), (1, 11)),
        ((a, 1), (13, 4)),
    ]
    return [grid_arguments(rng, *case) for case in cases]


def what_stays(ask, rng):
    a, b = draw_sizes(rng, 2, (5, 7, 9))
    P, old, new = grid_arguments(rng, (a, b), (13, 11))
    came = ask(P, old, new)
    if slip := shape_slip(came, (1 + 13 * 11, P.shape[1])):
        return slip
    if not close(came[0], P[0]):
        return "The class token keeps its position; yours is changed."
    if not close(ask(P, old, old), P):
        return "The same grid should give the same positions; yours change."
    even = np.concatenate([P[:1], np.repeat(P[1:2], a * b, axis=0)])
    if not close(ask(even, old, new)[1:], np.repeat(P[1:2], 13 * 11, axis=0)):
        return "Where all old positions are the same vector, all new ones should be that vector; yours are not."
    turned = np.concatenate([P[:1], P[:0:-1]])
    if not close(ask(turned, old, new)[1:], came[:0:-1]):
        return "Turn the picture upside down: the new positions should be turned, too, and yours are not."
    return None


EXERCISE = Exercise(
    slug="10-images",
    title="Images",
    chapter="chapters/10-images",
    questions=(
        Question(
            id="count",
            title="How many numbers are learned?",
            name="count_parameters",
            minutes=10,
            difficulty=1,
            checks=(
                equals("with a class token", 5, lambda rng: sizes_of_models(rng, True), count_reference),
                equals("without one", 3, lambda rng: sizes_of_models(rng, False), count_reference),
            ),
            hints=(
                "Walk through the model from the pixels to the labels and write down the shape of everything that is "
                "learned. Patches that share a map share its numbers.",
                "How many rows of patches are there, and how many in each row? The class token stands beside them and "
                "is a token like the others.",
                "In a block there are six matrices, one vector of F numbers, and several of D: count biases, scales "
                "and shifts. After the last block there is a norm, and the head has a bias.",
            ),
            section="from-patches-to-an-answer",
        ),
        Question(
            id="tokens",
            title="Repair the museum piece: tokens of an image",
            name="image_tokens",
            minutes=20,
            difficulty=2,
            checks=(
                equals("values", 6, ordinary_pictures, tokens_reference),
                equals("one image, one patch", 2, smallest_pictures, tokens_reference),
                holds("a painted square", 4, painted_square),
                holds("what the positions add", 4, what_the_places_add),
            ),
            hints=(
                "The four experiments are about three lines. For each line that changes axes, write down which axis "
                "varies slowest and which fastest, before and after.",
                "After the first reshape the axes are: image, channel, patch row, pixel row, patch column, pixel "
                "column. Which of them choose the patch, and which a number within it?",
                "A position belongs to a place in the sequence, and is the same for every image. P has N + 1 rows; "
                "which axis of your tokens has N + 1 entries, and who stands first?",
            ),
            section="from-patches-to-an-answer",
        ),
        Question(
            id="pool",
            title="Which pooling was it?",
            name="possible_pools",
            minutes=12,
            difficulty=1,
            checks=(
                equals("one of four", 6, one_of_four, pools_reference),
                equals("hard to tell", 3, hard_to_tell, pools_reference),
                equals("near the limit", 3, near_the_limit, pools_reference),
            ),
            hints=(
                "Make all four vectors for the whole batch, each B×D, and compare each of them with h. The letters "
                "do not exclude one another.",
                "Two of the four leave the class token out, and one takes it in. Which axis counts the tokens?",
                "A pooling that fails in one entry of one image is out. And 0.001 means 0.001, above and below, "
                "however large the numbers are: what does your comparison do by default?",
            ),
            section="from-patches-to-an-answer",
        ),
        Question(
            id="look",
            title="What the class token looks at",
            name="class_map",
            minutes=12,
            difficulty=2,
            checks=(
                equals("values", 6, ordinary_weights, map_reference),
                equals("sharp weights", 2, sharp_weights, map_reference),
                holds("what a map depends on", 4, what_a_map_depends_on),
            ),
            hints=(
                "Of the four axes of A, which is fixed by 'the class token', and which by 'takes from a patch'?",
                "Who asks is the target, and targets are the third axis here. Of the N + 1 sources only N are patches.",
                "There are two steps, mean and division, and their order matters: a head that gives the patches "
                "little shall also count for little. Every image is divided by its own sum.",
            ),
            section="what-the-class-token-looks-at",
        ),
        Question(
            id="hide",
            title="Hide, encode, restore",
            name="hide_and_restore",
            minutes=25,
            difficulty=3,
            checks=(
                equals("values", 8, ordinary_hiding, restored_reference),
                equals("one patch, all visible", 4, hiding_at_the_ends, restored_reference),
                holds("nothing hidden gets out", 6, nothing_hidden_gets_out),
            ),
            hints=(
                "For each image: which numbers have its n_visible patches? An array of these numbers, B×n_visible, is "
                "all you need to take the patches out and to put them back.",
                "`argsort` gives the numbers of the patches from the least noise to the most. That is not the same as "
                "the place of each patch in that order, which is the argsort of the argsort.",
                "Begin the result with the mask token everywhere and overwrite what was visible. When is the moment "
                "to add P, if every patch, hidden or not, needs the row of its own place?",
            ),
            section="drawing-what-is-hidden",
        ),
        Question(
            id="loss",
            title="The loss of what was hidden, and its gradient",
            name="masked_loss",
            minutes=20,
            difficulty=2,
            checks=(
                equals("plain patches", 6, plain_drawings, loss_reference),
                equals("normalised patches", 5, normalised_drawings, loss_reference),
                holds("gradient check", 5, gradient_check),
            ),
            hints=(
                "By how many numbers is the sum of squares divided? Count the hidden patches of the whole batch, and "
                "the numbers in each.",
                "Each entry of what was drawn stands in one square, or in none. Derive that square and keep the "
                "factor in front of the sum.",
                "A target that is normalised does not depend on what was drawn, so the gradient keeps its form. Each "
                "patch has its own mean and variance, and look up `ddof`.",
            ),
            section="drawing-what-is-hidden",
        ),
        Question(
            id="resize",
            title="Stretch: a larger picture",
            name="resize_positions",
            minutes=30,
            difficulty=3,
            checks=(
                equals("larger grids", 7, larger_grids, resize_reference),
                equals("other grids", 5, other_grids, resize_reference),
                holds("what stays", 6, what_stays),
            ),
            hints=(
                "Do it for one row of patches first: for each new place the number of the old neighbour before it, "
                "that of the one after it, and the two shares, which sum to 1.",
                "What is to the left of the first middle or to the right of the last one takes their value: bring the "
                "place into the range from 0 to r − 1 before you look for neighbours.",
                "Rows and columns can be done one after the other, and each is a matrix of shares, new × old, applied "
                "along one axis of the grid. Take the class token away before, and put it back after.",
            ),
            section="a-larger-picture",
        ),
    ),
)

"""Exercise 10, question hide: hide, encode, restore."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import CLOSE, draw_sizes

from .shared import close, pair_slip


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
    """One patch, one visible patch, nothing hidden, and one image."""
    x, noise, *rest = hiding_arguments(rng, 11)
    ends = [hiding_arguments(rng, 1, 1), hiding_arguments(rng, n_visible=1), hiding_arguments(rng, 7, 7)]
    return [*ends, (x[:1], noise[:1], *rest)]


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


QUESTION = Question(
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
    inputs=Inputs(lambda x, *rest: dict(zip("BND", x.shape, strict=True))),
)

right, wrong = answers_to(QUESTION)


def mix(tokens):
    return tokens + tokens.mean(axis=1, keepdims=True)


@right
def overwrite_the_visible(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    visible = order[:, :n_visible]
    each = np.arange(len(x))[:, None]
    y = np.broadcast_to(mask_token, x.shape).copy()
    y[each, visible] = encode(x[each, visible])
    hidden = np.full(noise.shape, True)
    hidden[each, visible] = False
    return y + P, hidden


@right
def argsort_of_argsort(x, noise, n_visible, mask_token, P, encode=mix):
    order = noise.argsort(axis=1)
    place = order.argsort(axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    return np.take_along_axis(shuffled, place[:, :, None], axis=1) + P, place >= n_visible


@right
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


@right
def as_often_written(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong("You take n_visible for the number of hidden patches.")
def as_many_hidden(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(-noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, n_visible:, None], axis=1)
    filler = np.tile(mask_token, (len(x), n_visible, 1))
    shuffled = np.concatenate([filler, encode(seen)], axis=1) if n_visible < x.shape[1] else filler
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place < n_visible


@wrong(
    "You compare the noise with a share of 1, which leaves now more and now fewer patches visible; exactly "
    "n_visible stay."
)
def share_for_a_number(x, noise, n_visible, mask_token, P, encode=mix):
    tokens, hidden = [], []
    for image, own in zip(x, noise, strict=True):
        seen = own <= n_visible / len(own)
        line = np.tile(mask_token, (len(own), 1))
        if seen.any():
            line[seen] = encode(image[seen][None])[0]
        tokens.append(line + P)
        hidden.append(~seen)
    return np.stack(tokens), np.stack(hidden)


@wrong("You add the mask token to what is hidden; it has to take its place, or everything is still there.")
def mask_token_added(x, noise, n_visible, mask_token, P, encode=mix):
    place = noise.argsort(axis=1).argsort(axis=1)
    hidden = place >= n_visible
    tokens = x + mask_token
    for b in range(len(x)):
        tokens[b, ~hidden[b]] = encode(x[b : b + 1, ~hidden[b]])[0]
    return tokens + P, hidden


@wrong("You set what is hidden to 0 and send everything into the encoder; the zeros count in its mean.")
def hidden_set_to_zero(x, noise, n_visible, mask_token, P, encode=mix):
    place = noise.argsort(axis=1).argsort(axis=1)
    hidden = place >= n_visible
    seen = encode(np.where(hidden[:, :, None], 0.0, x))
    return np.where(hidden[:, :, None], mask_token, seen) + P, hidden


@wrong("You send the visible patches of all images through the encoder as if they were one image.")
def all_images_as_one(x, noise, n_visible, mask_token, P, encode=mix):
    hidden = noise.argsort(axis=1).argsort(axis=1) >= n_visible
    tokens = np.tile(mask_token, (*noise.shape, 1))
    tokens[~hidden] = encode(x[~hidden][None])[0]
    return tokens + P, hidden


wrong.edits("""
# as_often_written
## order_for_place: You put the patches back by `order`, which says who stands where; to put them back you need where
each one stands, its inverse.
- place = np.argsort(order, axis=1)
+ place = order
## never_put_back: You leave the patches in shuffled order: the visible ones stand first, wherever they were.
- tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
+ tokens = shuffled + P
## places_before_restoring: You add the positions while the patches are still shuffled, so that they travel with the
wrong patches.
- tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
+ tokens = np.take_along_axis(shuffled + P, place[:, :, None], axis=1)
## largest_noise_stays: You keep the patches with the largest noise; those with the smallest stay visible.
- order = np.argsort(noise, axis=1)
+ order = np.argsort(-noise, axis=1)
## encoder_sees_everything: Your encoder sees all patches, and hides them only afterwards: what is hidden reaches the
mean.
- seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
+ seen = np.take_along_axis(encode(x), order[:, :n_visible, None], axis=1)
- shuffled = np.concatenate([encode(seen), filler], axis=1)
+ shuffled = np.concatenate([seen, filler], axis=1)
## mask_tokens_encoded: Your encoder sees the mask tokens, too; only the visible patches go into it.
- shuffled = np.concatenate([encode(seen), filler], axis=1)
+ shuffled = encode(np.concatenate([seen, filler], axis=1))
## encoded_with_decoder_places: You add P before the encoder; it belongs to the decoder, and comes after the mask tokens
are in place.
- seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
+ seen = np.take_along_axis(x + P, order[:, :n_visible, None], axis=1)
- tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
+ tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1)
## mask_tokens_without_places: Your mask tokens get no position, so the decoder cannot tell where they stand.
- tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
+ tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P * (place < n_visible)[:, :, None]
## only_mask_tokens_get_places: Only your mask tokens get a position; all tokens do.
- tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
+ tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P * (place >= n_visible)[:, :, None]
## no_places_at_all: The positions P are never added.
- tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
+ tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1)
## same_for_every_image: You hide the same patches in every image; each has its own noise.
- order = np.argsort(noise, axis=1)
+ order = np.tile(np.argsort(noise[0]), (len(x), 1))
## the_first_ones_stay: You keep the first n_visible patches of each image and never look at the noise.
- order = np.argsort(noise, axis=1)
+ order = np.tile(np.arange(x.shape[1]), (len(x), 1))
## zeros_for_the_mask_token: You fill the gaps with zeros; the mask token belongs there.
- filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
+ filler = np.zeros((len(x), x.shape[1] - n_visible, x.shape[2]))
## true_where_visible: Your truth values are True where a patch is visible; they are asked for where it is hidden.
- return tokens, place >= n_visible
+ return tokens, place < n_visible
## hidden_in_shuffled_order: Your tokens are right; your truth values belong to the shuffled order, not to the patches.
- return tokens, place >= n_visible
+ return tokens, np.arange(x.shape[1]) >= n_visible + 0 * place
## hidden_by_order: Your tokens are right; your truth values are made from the order of the patches, not from their
places in it.
- return tokens, place >= n_visible
+ return tokens, order >= n_visible
## never_encoded: The visible patches come back as they were: they have not been through the encoder.
- shuffled = np.concatenate([encode(seen), filler], axis=1)
+ shuffled = np.concatenate([seen, filler], axis=1)
## one_too_few: One patch too few stays visible.
- seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
- filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
+ seen = np.take_along_axis(x, order[:, : max(n_visible - 1, 1), None], axis=1)
+ filler = np.tile(mask_token, (len(x), x.shape[1] - max(n_visible - 1, 1), 1))
- return tokens, place >= n_visible
+ return tokens, place >= max(n_visible - 1, 1)
""")

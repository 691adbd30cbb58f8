"""Named wrong solutions of exercise 06: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# sinusoids


@wrong(
    "sinusoids",
    says="Your exponents grow only half as fast as they should, so your slowest wave is far too fast.",
    section="common-mistakes",
)
def half_the_exponent(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your exponents count the pairs from 1, as on the lecture's slide: the fastest wave is lost.",
    section="sinusoids",
)
def pairs_from_one(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(1, d_model // 2 + 1) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your cosines have exponents of their own; the two waves of a pair must share theirs.",
    section="sinusoids",
)
def cosine_with_its_own_exponent(n_tokens, d_model, start=0):
    row = np.arange(d_model)[:, None]
    angles = np.arange(start, start + n_tokens) / 10000.0 ** (row / d_model)
    return np.where(row % 2 == 0, np.sin(angles), np.cos(angles))


@wrong(
    "sinusoids",
    says="The number of the row itself stands where the number of the pair belongs, so all exponents are twice "
    "too large and sine and cosine do not share theirs.",
    section="common-mistakes",
)
def row_for_pair(n_tokens, d_model, start=0):
    row = np.arange(d_model)[:, None]
    angles = np.arange(start, start + n_tokens) / 10000.0 ** (2 * row / d_model)
    return np.where(row % 2 == 0, np.sin(angles), np.cos(angles))


@wrong(
    "sinusoids",
    says="The number of the even row stands where that of the pair belongs, so your waves get slow twice too soon.",
    section="common-mistakes",
)
def even_row_for_pair(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(0, d_model, 2) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="You multiply the place by the power of 10000, which makes every further pair wilder instead of slower.",
    section="common-mistakes",
)
def multiplied(n_tokens, d_model, start=0):
    rates = 10000.0 ** (2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="All your sines stand above all your cosines; here the two of a pair are neighbours.",
    section="sinusoids",
)
def sines_above_cosines(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=0)


@wrong(
    "sinusoids",
    says="In each of your pairs the cosine stands above the sine.",
    section="sinusoids",
)
def cosine_first(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Sine and cosine alternate from place to place in your table; they should alternate from row to row.",
    section="sinusoids",
)
def alternating_by_place(n_tokens, d_model, start=0):
    n, row = np.arange(start, start + n_tokens), np.arange(d_model)[:, None]
    angles = n / 10000.0 ** (2 * (row // 2) / d_model)
    return np.where(n % 2 == 0, np.sin(angles), np.cos(angles))


@wrong(
    "sinusoids",
    says="There are only sines in your table, and from a sine alone nobody can tell whether the wave rises or falls.",
    section="a-shift-is-a-rotation",
)
def only_sines(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * (np.arange(d_model) // 2) / d_model)
    return np.sin(rates[:, None] * np.arange(start, start + n_tokens))


@wrong(
    "sinusoids",
    says="Your places lie in rows; in this table every place is a column.",
    section="sinusoids",
)
def places_in_rows(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = np.arange(start, start + n_tokens)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(n_tokens, d_model)


@wrong(
    "sinusoids",
    says="Your reshape fills the table of columns with numbers that lie in rows, and mixes places with waves.",
    section="sinusoids",
)
def reshaped_not_transposed(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = np.arange(start, start + n_tokens)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="You count places from 1; the first one is 0.",
    section="sinusoids",
)
def places_from_one(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start + 1, start + n_tokens + 1)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your table begins at place 0 whatever `start` says, as in a program that forgets its cache.",
    section="common-mistakes",
)
def start_forgotten(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your table ends where place `n_tokens` would begin; that is how many columns are wanted, not the last place.",
    section="sinusoids",
)
def range_ends_too_soon(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start, n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, -1)


@wrong(
    "sinusoids",
    says="You add `start` to the angles, so that slow and fast waves move on alike; it belongs to the place.",
    section="a-shift-is-a-rotation",
)
def start_added_to_angles(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(n_tokens) + start
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your slowest wave ends exactly at 10000, as in some programs that divide by one pair fewer; the formula "
    "stops one step earlier.",
    section="sinusoids",
)
def one_pair_fewer(n_tokens, d_model, start=0):
    rates = 10000.0 ** (-np.arange(d_model // 2) / max(d_model // 2 - 1, 1))
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="A division without remainder makes all your exponents 0, so all waves are the same.",
    section="sinusoids",
)
def division_without_remainder(n_tokens, d_model, start=0):
    rates = 10000.0 ** -(2 * np.arange(d_model // 2) // d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your waves are a tenth of the right length or less from the second pair on: a digit of the base is missing.",
    section="sinusoids",
)
def base_of_a_thousand(n_tokens, d_model, start=0):
    rates = 1000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    angles = rates[:, None] * np.arange(start, start + n_tokens)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


@wrong(
    "sinusoids",
    says="Your power stands alone: without brackets, only the 2 is the exponent, and the rest of the line multiplies.",
    section="sinusoids",
)
def brackets_forgotten(n_tokens, d_model, start=0):
    i = np.arange(d_model // 2)[:, None]
    angles = np.arange(start, start + n_tokens) / 10000**2 * i / d_model
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


# slip


@wrong(
    "slip",
    says="Printed and original have changed places.",
    section="sinusoids",
)
def exchanged(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[:-1],
        "original wavelengths": waves[1:],
        "printed similarity": alike[:-1].mean(),
        "original similarity": alike[1:].mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="Your wavelengths are the numbers under the fraction bar: so many tokens for one radian, not for a full turn.",
    section="sinusoids",
)
def tokens_per_radian(d_model, distance):
    waves = 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="You give frequencies, in radians per token; a wavelength says how many tokens a turn takes.",
    section="sinusoids",
)
def frequencies_given(d_model, distance):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(distance * rates)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": rates[1:],
        "original wavelengths": rates[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="Your wavelengths are turns per token, the wrong way round.",
    section="sinusoids",
)
def turns_per_token(d_model, distance):
    rates = 10000.0 ** (-2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(distance * rates)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": rates[1:] / (2 * np.pi),
        "original wavelengths": rates[:-1] / (2 * np.pi),
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="You read the printed exponents without their factor 2, so that they stop half-way.",
    section="sinusoids",
)
def printed_without_the_two(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2) / d_model)
    printed = 2 * np.pi * 10000.0 ** (np.arange(1, d_model // 2 + 1) / d_model)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": printed,
        "original wavelengths": waves,
        "printed similarity": np.cos(2 * np.pi * distance / printed).mean(),
        "original similarity": np.cos(2 * np.pi * distance / waves).mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="Your original has the exponents i/D, half as large as they should be.",
    section="common-mistakes",
)
def original_without_the_two(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (np.arange(d_model // 2) / d_model)
    printed = 2 * np.pi * 10000.0 ** (2 * np.arange(1, d_model // 2 + 1) / d_model)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": printed,
        "original wavelengths": waves,
        "printed similarity": np.cos(2 * np.pi * distance / printed).mean(),
        "original similarity": np.cos(2 * np.pi * distance / waves).mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="Both your lists hold the waves of both formulas together: each formula has D/2 of them.",
    section="sinusoids",
)
def one_wave_too_many(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves,
        "original wavelengths": waves,
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="You drop the wave that the print loses and put none in its place; the printed formula ends on a slower one.",
    section="sinusoids",
)
def wave_dropped(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves,
        "printed similarity": alike[1:].sum() / max(len(waves) - 1, 1),
        "original similarity": alike.mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="Your similarities are plain inner products: divide by the two lengths.",
    section="the-position-kernel",
)
def plain_products(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].sum(),
        "original similarity": alike[:-1].sum(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="You divide by D, although a column holds one circle of radius 1 for every pair.",
    section="the-position-kernel",
)
def divided_by_the_width(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].sum() / d_model,
        "original similarity": alike[:-1].sum() / d_model,
        "enough": 2 * int(50 * gap) + 2,
    }


@wrong(
    "slip",
    says="Your similarities are those of neighbours, whatever the distance.",
    section="the-position-kernel",
)
def neighbours_only(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi / waves)
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 92,
    }


@wrong(
    "slip",
    says="Your width is enough for neighbours; at other distances the slip costs more or less.",
    section="the-position-kernel",
)
def enough_for_neighbours(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 92,
    }


@wrong(
    "slip",
    says="Your width is a step short: there the two still differ by 0.01 or more.",
    section="the-position-kernel",
)
def one_width_short(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": max(2 * int(100 * gap), 2),
    }


@wrong(
    "slip",
    says="Your `enough` counts pairs; the width is twice that.",
    section="the-position-kernel",
)
def pairs_counted(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": int(100 * gap) + 1,
    }


@wrong(
    "slip",
    says="You compare with a sign: where the printed similarity is the larger one, any difference counts as small.",
    section="the-position-kernel",
)
def signed_difference(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = max(np.cos(distance) - np.cos(distance / 10000), 0.0)
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="The smallest width must leave less than 0.01; yours leaves up to 0.1.",
    section="the-position-kernel",
)
def a_tenth(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(10 * gap) + 2,
    }


@wrong(
    "slip",
    says="You begin the search for a width at `d_model`; what is asked for does not depend on it.",
    section="the-position-kernel",
)
def search_from_the_given_width(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": max(2 * int(100 * gap) + 2, d_model),
    }


@wrong(
    "slip",
    says="Your smallest width can be odd, but every wave takes a sine and a cosine.",
    section="the-position-kernel",
)
def odd_widths_counted(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": int(200 * gap) + 1,
    }


@wrong(
    "slip",
    says="Your width can come out as 0, where the two agree anyway; the smallest is one pair.",
    section="the-position-kernel",
)
def width_of_zero(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": 2 * int(np.ceil(100 * gap)),
    }


@wrong(
    "slip",
    says="Your similarities are divided by one of the two lengths; a cosine needs both.",
    section="the-position-kernel",
)
def one_length_only(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].sum() / np.sqrt(d_model / 2),
        "original similarity": alike[:-1].sum() / np.sqrt(d_model / 2),
        "enough": 2 * int(100 * gap) + 2,
    }


@wrong(
    "slip",
    says="You compare the difference with the original similarity; 0.01 is meant as it stands.",
    section="the-position-kernel",
)
def share_of_the_original(d_model, distance):
    waves = 2 * np.pi * 10000.0 ** (2 * np.arange(d_model // 2 + 1) / d_model)
    alike = np.cos(2 * np.pi * distance / waves)
    gap = abs(np.cos(distance) - np.cos(distance / 10000))
    for width in range(2, 10_000, 2):
        original = np.cos(distance * 10000.0 ** (-2 * np.arange(width // 2) / width)).mean()
        if gap * 2 / width < 0.01 * abs(original):
            break
    return {
        "printed wavelengths": waves[1:],
        "original wavelengths": waves[:-1],
        "printed similarity": alike[1:].mean(),
        "original similarity": alike[:-1].mean(),
        "enough": width,
    }


# placing


@wrong(
    "placing",
    says="This is the museum piece as it stood: its vectors go to the sentences instead of the tokens.",
    section="positions-on-the-wrong-axis",
)
def as_exhibited(x, P, starts):
    how_many = len(x)
    vectors = P[starts[0] + np.arange(how_many)]
    return x + vectors.reshape(how_many, 1, -1)


@wrong(
    "placing",
    says="You count along the batch: all tokens of a sentence get one vector, which depends on the sentence's slot.",
    section="positions-on-the-wrong-axis",
)
def by_batch_slot(x, P, starts):
    places = np.maximum(starts + np.arange(len(x)), 0)
    return x + P[places][:, None]


@wrong(
    "placing",
    says="All tokens of a sentence get the vector of its first place: you never count on.",
    section="common-mistakes",
)
def one_vector_for_all(x, P, starts):
    return x + P[np.maximum(starts, 0)][:, None]


@wrong(
    "placing",
    says="All tokens get the vector of the last place of their sentence.",
    section="common-mistakes",
)
def last_vector_for_all(x, P, starts):
    return x + P[np.maximum(starts + x.shape[1] - 1, 0)][:, None]


@wrong(
    "placing",
    says="Every sentence of yours begins at place 0: the starts are not used.",
    section="common-mistakes",
)
def starts_forgotten(x, P, starts):
    return x + P[: x.shape[1]]


@wrong(
    "placing",
    says="The first sentence's start serves all of your sentences.",
    section="common-mistakes",
)
def first_start_for_all(x, P, starts):
    places = np.maximum(starts[0] + np.arange(x.shape[1]), 0)
    return x + P[places]


@wrong(
    "placing",
    says="A negative place takes its vector from the end of the table, without a word from NumPy.",
    section="learned-positions",
)
def from_the_end_of_the_table(x, P, starts):
    return x + P[starts[:, None] + np.arange(x.shape[1])]


@wrong(
    "placing",
    says="Your padding gets no vector at all; it should get that of place 0.",
    section="learned-positions",
)
def nothing_for_padding(x, P, starts):
    places = starts[:, None] + np.arange(x.shape[1])
    return x + np.where(places[..., None] >= 0, P[places], 0.0)


@wrong(
    "placing",
    says="You cut the starts off at 0 before you count on, so padding takes up places and the first word is too late.",
    section="learned-positions",
)
def cut_before_counting(x, P, starts):
    return x + P[np.maximum(starts, 0)[:, None] + np.arange(x.shape[1])]


@wrong(
    "placing",
    says="You mirror negative places, and padding gets the vectors of real places.",
    section="learned-positions",
)
def mirrored_places(x, P, starts):
    return x + P[np.abs(starts[:, None] + np.arange(x.shape[1]))]


@wrong(
    "placing",
    says="Your starts are subtracted, as if each were the number of padded columns.",
    section="learned-positions",
)
def starts_subtracted(x, P, starts):
    return x + P[np.maximum(np.arange(x.shape[1]) - starts[:, None], 0)]


@wrong(
    "placing",
    says="You count each sentence from one place too late: its first column stands at its start.",
    section="learned-positions",
)
def first_column_one_place_late(x, P, starts):
    return x + P[np.maximum(starts[:, None] + np.arange(1, x.shape[1] + 1), 0)]


@wrong(
    "placing",
    says="You multiply tokens by their positions instead of adding.",
    section="what-a-position-has-to-be",
)
def multiplied_by_positions(x, P, starts):
    return x * P[np.maximum(starts[:, None] + np.arange(x.shape[1]), 0)]


@wrong(
    "placing",
    says="You append the positions, which doubles the width; here they are added.",
    section="add-or-concatenate",
)
def appended(x, P, starts):
    places = np.maximum(starts[:, None] + np.arange(x.shape[1]), 0)
    return np.concatenate([x, P[places]], axis=2)


@wrong(
    "placing",
    says="You return the position vectors without the tokens.",
    section="what-a-position-has-to-be",
)
def positions_alone(x, P, starts):
    return P[np.maximum(starts[:, None] + np.arange(x.shape[1]), 0)] + 0 * x


@wrong(
    "placing",
    says="You count backwards from the end of each sentence.",
    section="what-a-position-has-to-be",
)
def backwards(x, P, starts):
    places = np.maximum(starts[:, None] + np.arange(x.shape[1])[::-1], 0)
    return x + P[places]


@wrong(
    "placing",
    says="Your function changed its argument 1 in place: "
    "compute into a new array, so that the caller's data stays as it was.",
    section="what-a-position-has-to-be",
)
def written_into_x(x, P, starts):
    x += P[np.maximum(starts[:, None] + np.arange(x.shape[1]), 0)]
    return x


@wrong(
    "placing",
    says="You blank the padded columns, words and all; their tokens stay and get the vector of place 0.",
    section="learned-positions",
)
def padding_blanked(x, P, starts):
    places = starts[:, None] + np.arange(x.shape[1])
    return np.where(places[..., None] < 0, 0.0, x + P[np.maximum(places, 0)])


@wrong(
    "placing",
    says="You move all sentences together until the earliest begins at 0, so a sentence depends on its neighbours.",
    section="positions-on-the-wrong-axis",
)
def starts_moved_together(x, P, starts):
    return x + P[(starts - starts.min())[:, None] + np.arange(x.shape[1])]


@wrong(
    "placing",
    says="Your table of places has a row for every token and a column for every sentence; the batch comes first here.",
    section="positions-on-the-wrong-axis",
)
def tokens_first(x, P, starts):
    return x + P[np.maximum(starts + np.arange(x.shape[1])[:, None], 0)]


@wrong(
    "placing",
    says="Your padding gets the last vector of the table; it should get that of place 0.",
    section="learned-positions",
)
def last_row_for_padding(x, P, starts):
    places = starts[:, None] + np.arange(x.shape[1])
    return x + P[np.where(places < 0, -1, places)]


@wrong(
    "placing",
    says="You drop the sign of the starts, so a padded sentence looks like a continued one.",
    section="learned-positions",
)
def starts_without_sign(x, P, starts):
    return x + P[np.abs(starts)[:, None] + np.arange(x.shape[1])]


# relative


@wrong(
    "relative",
    says="Your distances have the opposite sign: left and right have changed places.",
    section="relative-positions",
)
def left_and_right_exchanged(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(places - np.arange(n_sources), -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="The scale is missing: the bias is added to scores that are divided by a root, and has to be divided too.",
    section="relative-positions",
)
def not_scaled(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index]


@wrong(
    "relative",
    says="You divide by the width itself and not by its root.",
    section="relative-positions",
)
def divided_by_k(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / q.shape[-1]


@wrong(
    "relative",
    says="The root that you divide by is that of the number of distances; it should come from the width of a query.",
    section="relative-positions",
)
def scaled_by_the_table(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(len(r))


@wrong(
    "relative",
    says="Your queries stand at the first places; with more sources than queries they are the last ones.",
    section="common-mistakes",
)
def queries_at_the_beginning(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    index = np.clip(np.arange(n_sources) - np.arange(N)[:, None], -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="The middle row of r belongs to the distance 0; you look a distance up as it is, and a negative one is "
    "taken from the end.",
    section="relative-positions",
)
def middle_not_added(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m)
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="Beyond m you give no bias at all; whatever is farther away counts as m.",
    section="relative-positions",
)
def nothing_beyond(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
    bias = (q @ r.T)[..., np.arange(N)[:, None], np.clip(distance, -m, m) + m] / np.sqrt(q.shape[-1])
    return np.where(np.abs(distance) <= m, bias, 0.0)


@wrong(
    "relative",
    says="You take distances without their sign, so that left and right count alike.",
    section="relative-positions",
)
def distance_without_sign(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    distance = np.abs(np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None])
    index = np.minimum(distance, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="Far distances begin anew at the other end of your table instead of counting as m.",
    section="relative-positions",
)
def wrapped_round(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
    index = (distance + m) % len(r)
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="You read r as a table of places, not of distances.",
    section="relative-positions",
)
def a_table_of_places(q, r, n_sources):
    index = np.minimum(np.arange(n_sources), len(r) - 1)
    return (q @ r.T)[..., index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="Your result has a row for every source; a query is a row here.",
    section="relative-positions",
)
def sources_in_rows(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return np.swapaxes((q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1]), -1, -2)


@wrong(
    "relative",
    says="Your bias does not ask the query: it is the same for whatever stands there.",
    section="relative-positions",
)
def without_the_query(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return np.zeros((*q.shape[:-1], n_sources)) + r.sum(axis=1)[index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="You hide what stands on the right: hiding is the mask's work, and these scores go both ways.",
    section="relative-positions",
)
def right_side_hidden(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
    bias = (q @ r.T)[..., np.arange(N)[:, None], np.clip(distance, -m, m) + m] / np.sqrt(q.shape[-1])
    return np.where(distance <= 0, bias, 0.0)


@wrong(
    "relative",
    says="You let distances run up to the number of rows of r and not to its m, and pick beyond the middle.",
    section="relative-positions",
)
def clipped_at_the_table_length(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, 0, 2 * m)
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="You return weights: the softmax comes later, when bias and products have been added.",
    section="relative-positions",
)
def softmax_taken(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    E = np.exp((q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1]))
    return E / E.sum(axis=-1, keepdims=True)


@wrong(
    "relative",
    says="Your last query stands behind the last token: its place is too large by one.",
    section="relative-positions",
)
def queries_one_place_late(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None] + 1
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="The root that you divide by is that of the number of queries; it should come from the width of one.",
    section="relative-positions",
)
def scaled_by_the_length(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - places, -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(N)


@wrong(
    "relative",
    says="All your queries stand at the place of the first of them.",
    section="relative-positions",
)
def one_place_for_all_queries(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    index = np.clip(np.arange(n_sources) - (n_sources - N), -m, m) + m
    return (q @ r.T)[..., index] / np.sqrt(q.shape[-1])


@wrong(
    "relative",
    says="On the right you clip one step too early: the last row of r is never used.",
    section="relative-positions",
)
def last_row_never_used(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    places = np.arange(n_sources - N, n_sources)[:, None]
    index = np.maximum(np.minimum(np.arange(n_sources) - places, m - 1), -m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


# rotary


@wrong(
    "rotary",
    says="Your pairs are neighbours, 0 with 1 and 2 with 3, as in the paper; here the two halves make pairs.",
    section="rotary-positions",
)
def neighbours_paired(x, positions):
    a, b = x[..., ::2], x[..., 1::2]
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


@wrong(
    "rotary",
    says="You count from 0 and never look at the given places.",
    section="start-anywhere-leave-gaps",
)
def positions_forgotten(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(np.arange(x.shape[-2]), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="You take every place less the first one, so that each call starts at 0 again.",
    section="start-anywhere-leave-gaps",
)
def counted_from_the_first(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions - positions[0], 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="Your range starts at the first place and counts on: it fills the gaps.",
    section="start-anywhere-leave-gaps",
)
def gaps_filled(x, positions):
    a, b = np.split(x, 2, axis=-1)
    places = positions[0] + np.arange(len(positions))
    angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="Your rotation turns backwards: its minus sign stands in the other corner, as with the sinusoids.",
    section="rotary-positions",
)
def turned_backwards(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos + b * sin, b * cos - a * sin], axis=-1)


@wrong(
    "rotary",
    says="Neither of your two lines has a minus, and without one it is no rotation.",
    section="rotary-positions",
)
def no_minus(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos + b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="Both of your lines have a minus, and with two it is no rotation.",
    section="rotary-positions",
)
def two_minuses(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos - a * sin], axis=-1)


@wrong(
    "rotary",
    says="Your exponents grow only half as fast as they should: i over the whole width instead of over half of it.",
    section="rotary-positions",
)
def slow_pairs_too_fast(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / x.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="Your exponents grow twice too fast: a factor 2 has come in although you divide by half of the width.",
    section="rotary-positions",
)
def twice_the_exponent(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-2 * np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="You count the pairs from 1, so the fastest of them is lost.",
    section="sinusoids",
)
def fastest_pair_lost(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(1, a.shape[-1] + 1) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="All your pairs turn at one speed.",
    section="rotary-positions",
)
def one_speed(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = positions[:, None] * 1.0
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)


@wrong(
    "rotary",
    says="Every further pair of yours turns faster: you multiply by the power of 10000.",
    section="common-mistakes",
)
def faster_and_faster(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="The second half of your pairs is turned with the new numbers of the first; both lines need the old ones.",
    section="rotary-positions",
)
def new_numbers_used(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    a = a * cos - b * sin
    return np.concatenate([a, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="You lay the angles out for neighbours, each frequency twice in a row, but pair the halves: a mixture of two.",
    section="rotary-positions",
)
def two_layouts_mixed(x, positions):
    half = x.shape[-1] // 2
    angles = np.repeat(np.outer(positions, 10000.0 ** (-np.arange(half) / half)), 2, axis=-1)
    swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * np.cos(angles) + swapped * np.sin(angles)


@wrong(
    "rotary",
    says="You add waves to the vectors; rotary positions turn them.",
    section="rotary-positions",
)
def sinusoids_added(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(half) / half))
    return x + np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


@wrong(
    "rotary",
    says="Half of the rotation is missing: you multiply by cosines and leave the partner of each feature out.",
    section="rotary-positions",
)
def cosines_only(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(half) / half))
    return x * np.tile(np.cos(angles), 2)


@wrong(
    "rotary",
    says="The two halves of your result have changed places.",
    section="rotary-positions",
)
def halves_exchanged(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([b * cos + a * sin, a * cos - b * sin], axis=-1)


@wrong(
    "rotary",
    says="Your pairs are right, but they leave as neighbours; every feature should stay where it was.",
    section="rotary-positions",
)
def pairs_leave_as_neighbours(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)


@wrong(
    "rotary",
    says="Your angles are in single precision, which is too coarse at far places.",
    section="rotary-positions",
)
def angles_in_single_precision(x, positions):
    a, b = np.split(x, 2, axis=-1)
    rates = (10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1])).astype(np.float32)
    angles = np.outer(positions.astype(np.float32), rates)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="All tokens of yours are turned by the place of the first one.",
    section="rotary-positions",
)
def one_place_for_all(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = positions[0] * 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1])
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="A mistake of a step: you count the given places from 1.",
    section="rotary-positions",
)
def places_from_one_in_rotary(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions + 1, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="You pair neighbours and write the pairs out as halves, so features leave at other places than they came.",
    section="rotary-positions",
)
def neighbours_leave_as_halves(x, positions):
    a, b = x[..., ::2], x[..., 1::2]
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="Sine and cosine have changed places in your rotation: at place 0 it should do nothing.",
    section="rotary-positions",
)
def sine_for_cosine(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * sin - b * cos, b * sin + a * cos], axis=-1)


@wrong(
    "rotary",
    says="The second half of your features gets slower angles of its own; both features of a pair share one.",
    section="rotary-positions",
)
def angles_of_its_own(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(2 * half) / half))
    swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * np.cos(angles) + swapped * np.sin(angles)


@wrong(
    "rotary",
    says="Every feature of yours has an angle of its own, spread over the whole width; a pair shares one.",
    section="rotary-positions",
)
def angles_over_the_whole_width(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(2 * half) / (2 * half)))
    swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * np.cos(angles) + swapped * np.sin(angles)


@wrong(
    "rotary",
    says="Your base is not 10000: a digit is missing.",
    section="rotary-positions",
)
def rotary_base_of_a_thousand(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 1000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="You write into x while its old numbers are still needed, and they are the caller's numbers, too.",
    section="rotary-positions",
)
def written_into_x_too_soon(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles)
    x[..., :half] = x[..., :half] * cos - x[..., half:] * sin
    x[..., half:] = x[..., half:] * cos + x[..., :half] * sin
    return x


@wrong(
    "rotary",
    says="Your result keeps each pair on an axis of its own; the features belong back in one row.",
    section="rotary-positions",
)
def pairs_left_apart(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1)


@wrong(
    "rotary",
    says="You take the smallest place away from all of them, so that each call starts at 0 again.",
    section="start-anywhere-leave-gaps",
)
def counted_from_the_smallest(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions - np.min(positions), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


# mask


@wrong(
    "mask",
    says="You let one causal block hear the order; behind both places it hears the same set as before.",
    section="one-layer-is-not-enough",
)
def one_block_hears_the_order(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    return n >= min(i, j) if causal else own | positions


@wrong(
    "mask",
    says="With a mask and without positions you let only the two places change, as if the mask gave nothing away.",
    section="the-mask-as-position-information",
)
def mask_gives_nothing_away(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    return n >= min(i, j) if causal and positions else own | positions


@wrong(
    "mask",
    says="You forget the tokens between the two: they have one of them before them, and now it is the other.",
    section="one-layer-is-not-enough",
)
def between_forgotten(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    return own | ((n > max(i, j)) & (positions or n_blocks > 1)) if causal else own | positions


@wrong(
    "mask",
    says="You let the order leak into an encoder with depth; what commutes once commutes any number of times.",
    section="two-sentences-one-set",
)
def depth_leaks(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions | (n_blocks > 1)
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="Your answer does not look at `positions`: with them a place is part of what a token says.",
    section="two-sentences-one-set",
)
def positions_ignored(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (n_blocks > 1))


@wrong(
    "mask",
    says="Under a mask your answer does not look at `positions`, but a set of other vectors has another average.",
    section="one-layer-is-not-enough",
)
def positions_ignored_under_a_mask(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (n_blocks > 1))


@wrong(
    "mask",
    says="Your mask looks the wrong way: the tokens before the two places cannot see them.",
    section="the-mask-as-position-information",
)
def mask_the_wrong_way(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n < min(i, j)) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="You follow the words to their new places; the question is what changes place by place.",
    section="two-sentences-one-set",
)
def word_by_word(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    if not causal:
        return np.zeros(n_tokens, dtype=bool) | positions
    return ((n >= min(i, j)) & (n <= max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="You let everything change, always; without positions most of it stays.",
    section="two-sentences-one-set",
)
def everything_changes(n_tokens, i, j, n_blocks, causal, positions):
    return np.ones(n_tokens, dtype=bool)


@wrong(
    "mask",
    says="Under a mask you let everything change, also what stands before both places.",
    section="the-mask-as-position-information",
)
def everything_under_a_mask(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    return (n == i) | (n == j) | positions | causal


@wrong(
    "mask",
    says="With positions you let everything change, also what stands before both places and sees neither.",
    section="the-mask-as-position-information",
)
def positions_lift_the_mask(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if positions or not causal:
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (n_blocks > 1))


@wrong(
    "mask",
    says="You take i for the earlier place; the two come in any order.",
    section="one-layer-is-not-enough",
)
def order_of_i_and_j_assumed(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions
    return own | ((n > i) & (n < j)) | ((n > j) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="You ask for three blocks where two are enough.",
    section="one-layer-is-not-enough",
)
def three_blocks_wanted(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 2))


@wrong(
    "mask",
    says="However many causal blocks there are, you let nothing behind both places change; from the second block on "
    "the sums differ.",
    section="one-layer-is-not-enough",
)
def depth_does_not_help(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & positions)


@wrong(
    "mask",
    says="Between the two places you want a second block as well; there the set itself has changed.",
    section="one-layer-is-not-enough",
)
def between_wants_two_blocks(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own | positions
    return own | ((n > min(i, j)) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="You have turned the two cases round: what you answer with a mask holds without one.",
    section="the-mask-as-position-information",
)
def causal_turned_round(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if causal:
        return own | positions
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="You say what stays; the question is what changes.",
    section="two-sentences-one-set",
)
def what_stays(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return ~(own | positions)
    return ~(own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1)))


@wrong(
    "mask",
    says="You list the places that change; asked for is one truth value for every place.",
    section="one-layer-is-not-enough",
)
def places_listed(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return np.flatnonzero(own | positions)
    found = own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))
    return np.flatnonzero(found)


@wrong(
    "mask",
    says="Without a mask your answer does not look at `positions`, but an average notices which word has which place.",
    section="two-sentences-one-set",
)
def positions_ignored_without_a_mask(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    own = (n == i) | (n == j)
    if not causal:
        return own
    return own | ((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="You forget the two places themselves: another token stands there now.",
    section="one-layer-is-not-enough",
)
def own_places_forgotten(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    other = (n != i) & (n != j)
    if not causal:
        return other & positions
    return other & (((n > min(i, j)) & (n < max(i, j))) | ((n > max(i, j)) & (positions or n_blocks > 1)))


@wrong(
    "mask",
    says="Your mask hides a token from itself: the earlier of the two places changes as well.",
    section="the-mask-as-position-information",
)
def earlier_place_forgotten(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    if not causal:
        return (n == i) | (n == j) | positions
    first, last = min(i, j), max(i, j)
    return ((n > first) & (n <= last)) | ((n > last) & (positions or n_blocks > 1))


@wrong(
    "mask",
    says="Your ranges run from i to j, and come out empty when j is the earlier place.",
    section="one-layer-is-not-enough",
)
def ranges_from_i_to_j(n_tokens, i, j, n_blocks, causal, positions):
    n = np.arange(n_tokens)
    if not causal:
        return (n == i) | (n == j) | positions
    return np.where(n < i, False, (n <= j) | positions | (n_blocks > 1))


# museum


@wrong(
    "museum",
    says="This is the museum piece as it stood, with all three of its slips.",
    section="start-anywhere-leave-gaps",
)
def generating_as_exhibited(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, np.arange(len(q_places))) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.tri(len(q_places), len(k_places), dtype=bool)
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ turn(v, k_places) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your values are as they should be, but two slips of the museum piece are left: both use a row number.",
    section="start-anywhere-leave-gaps",
)
def only_values_repaired(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, np.arange(len(q_places))) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.tri(len(q_places), len(k_places), dtype=bool)
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your queries know their places, but two slips are left: one in the mask, one in what is averaged.",
    section="start-anywhere-leave-gaps",
)
def only_queries_repaired(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.tri(len(q_places), len(k_places), dtype=bool)
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ turn(v, k_places) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask is as it should be, but two slips are left: one in what is compared, one in what is averaged.",
    section="start-anywhere-leave-gaps",
)
def only_mask_repaired(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, np.arange(len(q_places))) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ turn(v, k_places) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your values are turned along with queries and keys, so the outputs depend on where everything stands.",
    section="common-mistakes",
)
def values_turned(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ turn(v, k_places) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your queries count from 0 in every call, which is wrong as soon as a cache holds earlier tokens.",
    section="common-mistakes",
)
def queries_from_0(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, np.arange(len(q_places))) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask compares the numbers of rows and columns instead of places.",
    section="start-anywhere-leave-gaps",
)
def mask_by_rows(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.tri(len(q_places), len(k_places), dtype=bool)
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask takes the queries for the last rows of the keys, as in a cache without gaps; places decide.",
    section="start-anywhere-leave-gaps",
)
def mask_by_last_rows(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.tri(len(q_places), len(k_places), len(k_places) - len(q_places), dtype=bool)
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your keys count from 0 although their places are given.",
    section="start-anywhere-leave-gaps",
)
def keys_from_0(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, np.arange(len(k_places))).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Queries and keys both count from 0 in yours, and the given places decide the mask only. If that comes from "
    "your rotation, let question 5 pass first.",
    section="start-anywhere-leave-gaps",
)
def both_from_0(q, k, v, q_places, k_places):
    def turn(x):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(np.arange(x.shape[-2]), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q) @ turn(k).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your queries are turned and your keys are not: then scores depend on the query's place alone.",
    section="rotary-positions",
)
def keys_not_turned(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your keys are turned and your queries are not: then scores depend on the key's place alone.",
    section="rotary-positions",
)
def queries_not_turned(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = q @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Neither queries nor keys are turned: apart from the mask nothing knows where it stands.",
    section="rotary-positions",
)
def nothing_turned(q, k, v, q_places, k_places):
    C = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Queries and keys turn in opposite directions, so scores depend on the sum of two places.",
    section="rotary-positions",
)
def opposite_directions(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, -k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="The rotation inside overwrites numbers that it still needs, and the caller's: let question 5 pass first.",
    section="rotary-positions",
)
def overwriting_rotation_inside(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        a[...] = a * cos - b * sin
        b[...] = b * cos + a * sin
        return x

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your pairs are neighbours; in question 5 the two halves make pairs.",
    section="rotary-positions",
)
def pairs_of_neighbours(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = x[..., ::2], x[..., 1::2]
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="The scores are scaled twice.",
    section="rotary-positions",
)
def scaled_twice(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / q.shape[-1]
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="There is no mask: your queries see keys at later places.",
    section="the-mask-as-position-information",
)
def no_mask(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = np.ones((len(q_places), len(k_places)), dtype=bool)
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask hides a query's own place from it.",
    section="the-mask-as-position-information",
)
def own_place_hidden(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places < q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask looks the wrong way: it shows what stands at later places.",
    section="the-mask-as-position-information",
)
def future_shown(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places >= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="The scores are not scaled by the root of the width.",
    section="start-anywhere-leave-gaps",
)
def scores_not_scaled(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2)
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="You scale by the width of a value; the products are those of queries and keys.",
    section="start-anywhere-leave-gaps",
)
def scaled_by_the_values(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(v.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask comes after the softmax, and what it hides is still in the denominator.",
    section="the-mask-as-position-information",
)
def mask_after_softmax(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    E = np.exp(C - C.max(axis=-1, keepdims=True))
    return E * seen @ v / E.sum(axis=-1, keepdims=True)


@wrong(
    "museum",
    says="You multiply hidden scores by 0, which is a score like any other.",
    section="the-mask-as-position-information",
)
def hidden_by_zero(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = C * seen
    E = np.exp(C - C.max(axis=-1, keepdims=True))
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your softmax runs over the queries; the shares of one query must sum to 1.",
    section="start-anywhere-leave-gaps",
)
def softmax_over_queries(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-2, keepdims=True)) * seen
    return E / np.maximum(E.sum(axis=-2, keepdims=True), 1e-300) @ v


@wrong(
    "museum",
    says="A query that sees no key gets the mean of all values in your version, and reads the future.",
    section="start-anywhere-leave-gaps",
)
def blind_query_averages_all(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True))
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="In your version a query that sees no key divides 0 by 0.",
    section="start-anywhere-leave-gaps",
)
def blind_query_is_nan(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -np.inf)
    E = np.exp(C - C.max(axis=-1, keepdims=True))
    return E @ v / E.sum(axis=-1, keepdims=True)


@wrong(
    "museum",
    says="Large scores overflow in your exponentials: take the largest of each row away first.",
    section="start-anywhere-leave-gaps",
)
def overflow(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    E = np.exp(C) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="You take the largest score of the whole table away, and the rows far below it vanish.",
    section="start-anywhere-leave-gaps",
)
def largest_of_the_table(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max()) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="You take away a largest score that may itself be hidden, and what a query sees can vanish beside it.",
    section="start-anywhere-leave-gaps",
)
def largest_of_hidden_too(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="You add waves to queries and keys instead of turning them.",
    section="rotary-positions",
)
def waves_added(q, k, v, q_places, k_places):
    def turn(x, places):
        half = x.shape[-1] // 2
        angles = np.outer(places, 10000.0 ** (-np.arange(half) / half))
        return x + np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your mask lies on its side: its rows should belong to the queries.",
    section="start-anywhere-leave-gaps",
)
def mask_on_its_side(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places[:, None] <= q_places
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="You scale by the number of pairs; the products run over the whole width.",
    section="start-anywhere-leave-gaps",
)
def scaled_by_the_pairs(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1] // 2)
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Your weights are never divided by their sum, so outputs are no averages.",
    section="start-anywhere-leave-gaps",
)
def shares_do_not_sum_to_one(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v


@wrong(
    "museum",
    says="You add a large penalty to hidden scores: a query that sees no key then looks as if nothing were hidden.",
    section="start-anywhere-leave-gaps",
)
def penalty_added(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = C + np.where(seen, 0.0, -1e9)
    E = np.exp(C - C.max(axis=-1, keepdims=True))
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="The rotation inside has exponents half as large as they should be: let question 5 pass first.",
    section="rotary-positions",
)
def slow_rotation_inside(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / x.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="The rotation inside has exponents twice as large as they should be: let question 5 pass first.",
    section="rotary-positions",
)
def fast_rotation_inside(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / (a.shape[-1] / 2)))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="The rotation inside turns backwards: let question 5 pass first.",
    section="rotary-positions",
)
def backwards_inside(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos + b * sin, b * cos - a * sin], axis=-1)

    C = turn(q, q_places) @ turn(k, k_places).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "museum",
    says="Queries and keys are each counted from their own first place, and so their distances are lost.",
    section="start-anywhere-leave-gaps",
)
def each_from_its_own_start(q, k, v, q_places, k_places):
    def turn(x, places):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(places, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_places - np.min(q_places)) @ turn(k, k_places - np.min(k_places)).swapaxes(-1, -2)
    C = C / np.sqrt(q.shape[-1])
    seen = k_places <= q_places[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


WRONG = wrong

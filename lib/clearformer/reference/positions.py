"""Where a token stands, written into its vector."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

LONGEST = 10_000  # wavelengths lie between 2π and this times 2π positions


def sinusoidal(n_tokens: int, d_model: int, first_pair: int = 0) -> Float[ndarray, "D N"]:
    r"""One column per position: a sine and a cosine for each of D/2 wavelengths, from fast to slow.

    .. math:: P_{2i, n} = \sin\left(n / 10000^{2i/D}\right), \qquad
              P_{2i+1, n} = \cos\left(n / 10000^{2i/D}\right), \qquad i, n = 0, 1, \dots

    ``first_pair=1`` starts the exponents at 2/D, as printed on the slides: all wavelengths move up by one pair and
    the fastest sinusoid is lost.

    Source: Vaswani et al. 2017, section 3.5; COMP 336, "Position Representation Vectors via Sinusoids".
    Raises: ValueError if ``d_model`` is odd or a size is not positive.
    """
    if n_tokens < 1 or d_model < 2 or d_model % 2:
        raise ValueError(
            f"sinusoidal: n_tokens={n_tokens} and d_model={d_model}, expected at least one token and an even width: "
            "every wavelength takes a sine and a cosine. Change d_model by one."
        )
    i = np.arange(d_model // 2) + first_pair
    angles = np.arange(n_tokens) / LONGEST ** (2 * i[:, None] / d_model)
    P = np.empty((d_model, n_tokens))
    P[0::2], P[1::2] = np.sin(angles), np.cos(angles)
    return P

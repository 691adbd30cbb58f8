"""Named wrong solutions of exercise 02: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# waiting


@wrong(
    "waiting",
    says="You let the recurrent network read all tokens in one round, but each state waits for the one before it.",
    section="steps-that-wait-for-one-another",
)
def recurrence_in_one_round(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (1, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You count the steps from state to state; before the first of them the first token has to enter a state.",
    section="the-distance-between-two-tokens",
)
def steps_between_states(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens - 1, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You let every layer reach back by the full width of the kernel, but one of its weights is for the "
    "token itself.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def reach_of_the_full_width(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // kernel))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You round the number of layers down, so the last few tokens are not reached.",
    section="the-distance-between-two-tokens",
)
def rounded_down(n_tokens, width, kernel):
    layers = max(1, (n_tokens - 1) // (kernel - 1))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You add a layer even where the layers before it have just reached the last token.",
    section="the-distance-between-two-tokens",
)
def one_layer_too_many(n_tokens, width, kernel):
    layers = (n_tokens - 1) // (kernel - 1) + 1
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You put the token in the middle of the kernel, but this kernel looks back only.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def kernel_in_the_middle(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // max(1, (kernel - 1) // 2)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You let the reach multiply from layer to layer; with the same kernel in every layer it adds up.",
    section="the-distance-between-two-tokens",
)
def reach_multiplies(n_tokens, width, kernel):
    layers = max(1, int(np.ceil(np.log(n_tokens) / np.log(kernel))))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You count one layer of convolution however long the sequence is, but one layer reaches only as far "
    "as its kernel.",
    section="the-distance-between-two-tokens",
)
def one_layer_of_convolution(n_tokens, width, kernel):
    layers = 1
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You need no layer at all for a single token, but it has to go through one to reach an output.",
    section="the-distance-between-two-tokens",
)
def no_layer_for_one_token(n_tokens, width, kernel):
    layers = -(-(n_tokens - 1) // (kernel - 1))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You make the outputs of attention wait for one another; there are as many of them, but they need "
    "each other nowhere.",
    section="steps-that-wait-for-one-another",
)
def attention_in_turn(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (n_tokens, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You let attention compute something for every token only; it does it for every pair of tokens.",
    section="steps-that-wait-for-one-another",
)
def attention_by_token(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens * width**2),
    }


@wrong(
    "waiting",
    says="You count the scores of attention and forget the averages.",
    section="the-weighted-average",
)
def scores_only(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You count one multiplication for each pair, but a score is a dot product of many numbers.",
    section="a-soft-lookup-table",
)
def one_for_each_pair(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2),
    }


@wrong(
    "waiting",
    says="You count one of the two matrices of the recurrence.",
    section="why-not-recurrence",
)
def one_matrix_only(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You count the recurrence as if its matrices were diagonal: a matrix–vector product takes a "
    "multiplication for every entry.",
    section="why-not-recurrence",
)
def diagonal_matrices(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You give the convolution a matrix for every weight, but here each weight is one number, the same "
    "for all features.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def features_mixed(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width**2),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You count the multiplications of one layer of convolution and leave out the other layers.",
    section="the-distance-between-two-tokens",
)
def work_of_one_layer(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, n_tokens * kernel * width),
        "attention": (1, 2 * n_tokens**2 * width),
    }


@wrong(
    "waiting",
    says="You count the additions as well, as the chapter does; this question asks for the multiplications alone.",
    section="steps-that-wait-for-one-another",
)
def additions_too(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 4 * n_tokens * width**2),
        "convolution": (layers, 2 * layers * n_tokens * kernel * width),
        "attention": (1, 4 * n_tokens**2 * width),
    }


# softmax


@wrong(
    "softmax",
    says="You always go down the columns, whatever the axis is.",
    section="what-the-sums-of-a-say",
)
def always_the_first_axis(scores, axis):
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return powers / powers.sum(axis=0, keepdims=True)


@wrong(
    "softmax",
    says="You always go along the last axis, whatever axis is asked for.",
    section="what-the-sums-of-a-say",
)
def always_the_last_axis(scores, axis):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@wrong(
    "softmax",
    says="You go along the other axis: the sums over the given one are not 1.",
    section="what-the-sums-of-a-say",
)
def the_other_axis(scores, axis):
    axis = (axis + 1) % scores.ndim
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You let all scores of the table compete: all weights together sum to 1.",
    section="what-the-sums-of-a-say",
)
def over_everything(scores, axis):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


@wrong(
    "softmax",
    says="Your maxima and sums have lost their axis and are stretched along the wrong one.",
    section="a-soft-lookup-table",
)
def lost_axis(scores, axis):
    powers = np.exp(scores - scores.max(axis=axis))
    return powers / powers.sum(axis=axis)


@wrong(
    "softmax",
    says="The exponential meets large scores as they are and overflows.",
    section="a-soft-lookup-table",
)
def no_maximum(scores, axis):
    powers = np.exp(scores)
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You subtract one maximum of the whole table: where a group of scores lies far below it every "
    "exponential becomes 0.",
    section="a-soft-lookup-table",
)
def one_maximum_for_all(scores, axis):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You subtract the mean, which keeps the shares but leaves large scores far above it to overflow.",
    section="a-soft-lookup-table",
)
def mean_subtracted(scores, axis):
    powers = np.exp(scores - scores.mean(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You cut large scores off to avoid an overflow, and so all large scores become equal.",
    section="a-soft-lookup-table",
)
def scores_cut_off(scores, axis):
    powers = np.exp(np.clip(scores, -50, 50))
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You divide the scores by the largest one instead of subtracting it, which changes their differences.",
    section="a-soft-lookup-table",
)
def divided_by_the_maximum(scores, axis):
    powers = np.exp(scores / np.abs(scores).max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You divide the scores themselves by their sum; the exponential is missing.",
    section="a-soft-lookup-table",
)
def no_exponential(scores, axis):
    return scores / scores.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You take the exponentials and never divide them by their sum.",
    section="a-soft-lookup-table",
)
def never_divided(scores, axis):
    return np.exp(scores - scores.max(axis=axis, keepdims=True))


@wrong(
    "softmax",
    says="You divide by the length of the vector of exponentials, the root of the sum of squares, instead of "
    "by their sum.",
    section="a-soft-lookup-table",
)
def euclidean_length(scores, axis):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / np.linalg.norm(powers, axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You give the whole weight to the largest score; that is the dictionary and not the soft lookup.",
    section="from-soft-back-to-hard",
)
def hard_maximum(scores, axis):
    return (scores == scores.max(axis=axis, keepdims=True)).astype(float)


@wrong(
    "softmax",
    says="The sign is turned round: the lowest score gets the largest weight.",
    section="a-soft-lookup-table",
)
def lowest_score_wins(scores, axis):
    powers = np.exp(scores.min(axis=axis, keepdims=True) - scores)
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="A small number is added to the denominator, so the weights do not sum to 1 exactly.",
    section="what-the-sums-of-a-say",
)
def padded_denominator(scores, axis):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / (powers.sum(axis=axis, keepdims=True) + 1e-5)


@wrong(
    "softmax",
    says="You work inside the array that came in, so the caller's scores are gone afterwards.",
    section="a-soft-lookup-table",
)
def changes_its_argument(scores, axis):
    scores -= scores.max(axis=axis, keepdims=True)
    np.exp(scores, out=scores)
    return scores / scores.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    says="You compute in single precision and lose half of the digits.",
    section="a-soft-lookup-table",
)
def single_precision(scores, axis):
    powers = np.exp((scores - scores.max(axis=axis, keepdims=True)).astype(np.float32))
    return powers / powers.sum(axis=axis, keepdims=True)


# lookup: what is left of the museum piece after no, one or two repairs, and other ways to miss


@wrong(
    "lookup",
    says="This is the museum piece as it stood: all three experiments still go wrong.",
    section="a-soft-lookup-table",
)
def as_exhibited(Q, K, V, temperature):
    scores = Q.T @ K * temperature
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    weights = powers / powers.sum(axis=0, keepdims=True)
    return V @ weights.reshape(K.shape[1], Q.shape[1])


@wrong(
    "lookup",
    says="The temperature is repaired; two slips are left, one in the sums and one in the order of the numbers.",
    section="what-the-sums-of-a-say",
)
def only_temperature_repaired(Q, K, V, temperature):
    scores = Q.T @ K / temperature
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    weights = powers / powers.sum(axis=0, keepdims=True)
    return V @ weights.reshape(K.shape[1], Q.shape[1])


@wrong(
    "lookup",
    says="The sums are repaired; a small temperature still makes the answer soft, and the numbers of the "
    "table are still mixed up.",
    section="from-soft-back-to-hard",
)
def only_sums_repaired(Q, K, V, temperature):
    scores = Q.T @ K * temperature
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.reshape(K.shape[1], Q.shape[1])


@wrong(
    "lookup",
    says="The numbers keep their places now; the sums of a query are still not 1, and the temperature still "
    "works backwards.",
    section="what-the-sums-of-a-say",
)
def only_places_repaired(Q, K, V, temperature):
    scores = Q.T @ K * temperature
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    weights = powers / powers.sum(axis=0, keepdims=True)
    return V @ weights.T


@wrong(
    "lookup",
    says="One slip is left: a line keeps the shape right and moves weights to other queries and keys.",
    section="a-soft-lookup-table",
)
def places_still_mixed(Q, K, V, temperature):
    scores = Q.T @ K / temperature
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.reshape(K.shape[1], Q.shape[1])


@wrong(
    "lookup",
    says="One slip is left: the queries compete for each key, so the weights of one answer do not sum to 1.",
    section="what-the-sums-of-a-say",
)
def sums_still_wrong(Q, K, V, temperature):
    scores = Q.T @ K / temperature
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    weights = powers / powers.sum(axis=0, keepdims=True)
    return V @ weights.T


@wrong(
    "lookup",
    says="One slip is left: a small temperature makes your answers soft, and it should make them sharp.",
    section="from-soft-back-to-hard",
)
def temperature_still_wrong(Q, K, V, temperature):
    scores = Q.T @ K * temperature
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.T


@wrong(
    "lookup",
    says="The temperature is gone: the answers are those of a temperature of 1.",
    section="from-soft-back-to-hard",
)
def temperature_removed(Q, K, V, temperature):
    scores = Q.T @ K / 1
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.T


@wrong(
    "lookup",
    says="Your maximum runs over the queries and your sum over the keys: what is subtracted differs from "
    "competitor to competitor.",
    section="what-the-sums-of-a-say",
)
def maximum_of_the_other_axis(Q, K, V, temperature):
    scores = Q.T @ K / temperature
    powers = np.exp(scores - scores.max(axis=0))
    return V @ (powers / powers.sum(axis=1, keepdims=True)).T


@wrong(
    "lookup",
    says="You divide by the root of the width as well; here the temperature alone sets the sharpness.",
    section="a-soft-lookup-table",
)
def scaled_as_well(Q, K, V, temperature):
    scores = Q.T @ K / (temperature * np.sqrt(len(K)))
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.T


@wrong(
    "lookup",
    says="You let all pairs of a query and a key compete: the weights of all answers together sum to 1.",
    section="what-the-sums-of-a-say",
)
def all_pairs_compete(Q, K, V, temperature):
    scores = K.T @ Q / temperature
    powers = np.exp(scores - scores.max())
    return V @ (powers / powers.sum())


@wrong(
    "lookup",
    says="You divide the weights by the temperature after the softmax: they no longer sum to 1 and are no sharper.",
    section="from-soft-back-to-hard",
)
def temperature_after_the_softmax(Q, K, V, temperature):
    scores = K.T @ Q
    powers = np.exp(scores - scores.max(axis=0))
    return V @ (powers / powers.sum(axis=0)) / temperature


@wrong(
    "lookup",
    says="You pick the value of the best key alone; a soft lookup mixes.",
    section="from-soft-back-to-hard",
)
def best_key_only(Q, K, V, temperature):
    return V[:, (K.T @ Q).argmax(axis=0)]


@wrong(
    "lookup",
    says="You give every query the plain mean of the values, as if no key fitted better than another.",
    section="a-soft-lookup-table",
)
def plain_mean(Q, K, V, temperature):
    return np.repeat(V.mean(axis=1, keepdims=True), Q.shape[1], axis=1)


@wrong(
    "lookup",
    says="You scale queries and keys to length 1 first; in this table the score is the plain dot product.",
    section="a-soft-lookup-table",
)
def cosine_scores(Q, K, V, temperature):
    scores = (K / np.linalg.norm(K, axis=0)).T @ (Q / np.linalg.norm(Q, axis=0)) / temperature
    powers = np.exp(scores - scores.max(axis=0))
    return V @ (powers / powers.sum(axis=0))


@wrong(
    "lookup",
    says="The keys stand where the values should: what you mix is what was compared.",
    section="a-soft-lookup-table",
)
def mixes_the_keys(Q, K, V, temperature):
    scores = K.T @ Q / temperature
    powers = np.exp(scores - scores.max(axis=0))
    return K @ (powers / powers.sum(axis=0))


@wrong(
    "lookup",
    says="The exponential meets the scores of a small temperature as they are and overflows.",
    section="a-soft-lookup-table",
)
def overflows_when_sharp(Q, K, V, temperature):
    powers = np.exp(K.T @ Q / temperature)
    return V @ (powers / powers.sum(axis=0))


# convolution


@wrong(
    "convolution",
    says="Your kernel looks ahead: row and column have changed places.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def looks_ahead(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n + j < n_tokens:
                A[(n + j) % n_tokens, n] = kernel[j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="The kernel lies the wrong way round: its last weight meets the token itself, as in conv1d.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def kernel_reversed(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[len(kernel) - 1 - j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="The kernel is centred on the token, but its first weight is for the token itself and the others "
    "are for those before it.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def kernel_centred(kernel, n_tokens, border="circular"):
    A, middle = np.zeros((n_tokens, n_tokens)), len(kernel) // 2
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or 0 <= n - j + middle < n_tokens:
                A[(n - j + middle) % n_tokens, n] = kernel[j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="Your first weight goes to the token before; it belongs to the token itself.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def starts_one_before(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j + 1:
                A[(n - j - 1) % n_tokens, n] = kernel[j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="You wrap around whatever the border is.",
    section="at-the-borders",
)
def border_ignored(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            A[(n - j) % n_tokens, n] = kernel[j]
    return A


@wrong(
    "convolution",
    says="An index below 0 counts from the end in Python, so your zeros outside are the other end of the sequence.",
    section="at-the-borders",
)
def negative_index(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            A[n - j, n] = kernel[j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="You wrap around and then divide by the column sums, but renormalising starts from zeros outside.",
    section="at-the-borders",
)
def circle_renormalised(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border != "zeros" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="You never wrap around: the circular border has zeros where the other end of the sequence should be.",
    section="convolution-is-attention-with-a-fixed-matrix",
)
def never_wraps(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for j, weight in enumerate(kernel):
        A += weight * np.eye(n_tokens, k=j)
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="You renormalise the rows: what one token gives sums to 1, but it is what one output takes that should.",
    section="at-the-borders",
)
def rows_renormalised(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[j]
    return A / A.sum(axis=1, keepdims=True) if border == "renormalised" else A


@wrong(
    "convolution",
    says="You divide every column by the sum of the whole kernel, so the columns at the border still sum to "
    "less than 1.",
    section="at-the-borders",
)
def divided_by_the_kernel_sum(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[j]
    return A / kernel.sum() if border == "renormalised" else A


@wrong(
    "convolution",
    says="You never divide: the renormalised border is the one with zeros outside.",
    section="at-the-borders",
)
def never_renormalised(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[j]
    return A


@wrong(
    "convolution",
    says="You divide by the column sums at every border; only one of the three asks for it.",
    section="at-the-borders",
)
def always_renormalised(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[j]
    return A / A.sum(axis=0)


@wrong(
    "convolution",
    says="You hand the weights that fall outside to the first token: the sums are kept, but not the shares "
    "of the others.",
    section="at-the-borders",
)
def first_token_repeated(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            A[(n - j) % n_tokens if border == "circular" else max(n - j, 0), n] += kernel[j]
    return A / A.sum(axis=0) if border == "renormalised" else A


@wrong(
    "convolution",
    says="You keep only the outputs whose whole kernel fits, so some columns are missing.",
    section="at-the-borders",
)
def only_full_windows(kernel, n_tokens, border="circular"):
    A = np.zeros((n_tokens, n_tokens))
    for n in range(n_tokens):
        for j in range(len(kernel)):
            if border == "circular" or n >= j:
                A[(n - j) % n_tokens, n] = kernel[j]
    A = A if border == "circular" else A[:, len(kernel) - 1 :]
    return A / A.sum(axis=0) if border == "renormalised" else A


# hull


@wrong(
    "hull",
    says="You compare feature by feature with the smallest and the largest value: that box is larger than the hull.",
    section="what-an-average-cannot-do",
)
def range_of_each_feature(X, Y):
    low, high = X.min(axis=1, keepdims=True) - 1e-9, X.max(axis=1, keepdims=True) + 1e-9
    return ((low <= Y) & (high >= Y)).all(axis=0)


@wrong(
    "hull",
    says="You look at the first feature only.",
    section="what-an-average-cannot-do",
)
def first_feature_only(X, Y):
    return (Y[0] >= X[0].min() - 1e-9) & (Y[0] <= X[0].max() + 1e-9)


@wrong(
    "hull",
    says="You compare with the smallest and the largest number of the whole table and mix up the features.",
    section="what-an-average-cannot-do",
)
def range_of_the_whole_table(X, Y):
    return ((X.min() - 1e-9 <= Y) & (X.max() + 1e-9 >= Y)).all(axis=0)


@wrong(
    "hull",
    says="You ask whether any weights make the output, and never for their signs: then everything is reachable.",
    section="what-an-average-cannot-do",
)
def signs_forgotten(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return np.isclose(table @ np.linalg.solve(table, wanted), wanted, atol=1e-6).all(axis=0)


@wrong(
    "hull",
    says="You ask that no weight is above 1, but a weight below 0 can be made up for by the others.",
    section="what-an-average-cannot-do",
)
def no_weight_above_one(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return (np.linalg.solve(table, wanted) <= 1 + 1e-9).all(axis=0)


@wrong(
    "hull",
    says="You solve Y = XA and never ask that the weights sum to 1.",
    section="the-weighted-average",
)
def sums_forgotten(X, Y):
    weights = np.linalg.lstsq(X, Y, rcond=None)[0]
    return (weights >= -1e-9).all(axis=0)


@wrong(
    "hull",
    says="You find some weights first and ask afterwards whether they sum to 1: many weights make the same "
    "output, and yours are others.",
    section="the-weighted-average",
)
def sums_asked_afterwards(X, Y):
    weights = np.linalg.lstsq(X, Y, rcond=None)[0]
    return (weights >= -1e-9).all(axis=0) & np.isclose(weights.sum(axis=0), 1)


@wrong(
    "hull",
    says="You leave out the border of the hull: a token itself, or a mixture of two, is an average as well.",
    section="what-an-average-cannot-do",
)
def border_left_out(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return (np.linalg.solve(table, wanted) > 1e-9).all(axis=0)


@wrong(
    "hull",
    says="You call a token itself out of reach: a weight that should be 0 may come out a little below it by rounding.",
    section="what-an-average-cannot-do",
)
def no_tolerance(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return (np.linalg.solve(table, wanted) >= 0).all(axis=0)


@wrong(
    "hull",
    says="Your tolerance is far too wide: weights well below 0 pass as rounding.",
    section="what-an-average-cannot-do",
)
def tolerance_too_wide(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return (np.linalg.solve(table, wanted) > -1e-2).all(axis=0)


@wrong(
    "hull",
    says="You draw a ball round the mean of the tokens; the hull has corners and lies inside it.",
    section="what-an-average-cannot-do",
)
def ball_round_the_mean(X, Y):
    middle = X.mean(axis=1, keepdims=True)
    return np.linalg.norm(Y - middle, axis=0) <= np.linalg.norm(X - middle, axis=0).max() + 1e-9


@wrong(
    "hull",
    says="You ask whether an output equals one of the tokens: that is the dictionary, and an average can mix.",
    section="from-soft-back-to-hard",
)
def tokens_themselves(X, Y):
    gaps = np.abs(X[:, :, None] - Y[:, None, :]).max(axis=0)
    return (gaps < 1e-9).any(axis=0)


@wrong(
    "hull",
    says="You give one answer for all outputs together, but each of them has its own.",
    section="what-an-average-cannot-do",
)
def one_answer_for_all(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return bool((np.linalg.solve(table, wanted) >= -1e-9).all())


@wrong(
    "hull",
    says="You join the answers of each token over all outputs: the `all` runs along the wrong axis.",
    section="what-an-average-cannot-do",
)
def one_answer_for_each_token(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return (np.linalg.solve(table, wanted) >= -1e-9).all(axis=1)


@wrong(
    "hull",
    says="You return a list; the question asks for an array of truth values.",
    section="what-an-average-cannot-do",
)
def list_of_truth_values(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return [bool((a >= -1e-9).all()) for a in np.linalg.solve(table, wanted).T]


@wrong(
    "hull",
    says="Your answers are turned round: True is for outputs that can be reached.",
    section="what-an-average-cannot-do",
)
def turned_round(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return (np.linalg.solve(table, wanted) < -1e-9).any(axis=0)


@wrong(
    "hull",
    says="You return the weights as numbers; the question asks for one truth value for each output.",
    section="what-an-average-cannot-do",
)
def returns_the_weights(X, Y):
    table, wanted = (np.vstack([Z, np.ones(Z.shape[1])]) for Z in (X, Y))
    return np.linalg.solve(table, wanted)


# signs


@wrong(
    "signs",
    says="Your q is below 0: the minus sign stands in the formula already and is taken twice.",
    section="two-averages-and-a-sign",
)
def negative_q(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return p, A_1, -q, A_2


@wrong(
    "signs",
    says="Your second average has weights below 0; its sign belongs in front of it.",
    section="two-averages-and-a-sign",
)
def negative_average(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return p, A_1, q, np.where(q > 0, -A_2, A_2)


@wrong(
    "signs",
    says="The two halves have changed places: you return the negative part first.",
    section="two-averages-and-a-sign",
)
def halves_swapped(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return q, A_2, p, A_1


@wrong(
    "signs",
    says="You return the parts themselves and never divide them by their sums, so they are no averages.",
    section="what-the-sums-of-a-say",
)
def parts_not_divided(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    return p, plus, q, minus


@wrong(
    "signs",
    says="You leave the sizes out: p and q are 1 in every column.",
    section="two-averages-and-a-sign",
)
def sizes_left_out(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return np.ones(M.shape[1]), A_1, np.ones(M.shape[1]), A_2


@wrong(
    "signs",
    says="You sum over the outputs: your p and q belong to the rows.",
    section="what-the-sums-of-a-say",
)
def sums_of_rows(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=1), minus.sum(axis=1)
    A_1 = np.where(p > 0, plus.T / np.where(p > 0, p, 1), 1 / len(M)).T
    A_2 = np.where(q > 0, minus.T / np.where(q > 0, q, 1), 1 / len(M)).T
    return p, A_1, q, A_2


@wrong(
    "signs",
    says="You take one p and one q for the whole matrix, but every output has its own.",
    section="two-averages-and-a-sign",
)
def one_size_for_all(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(), minus.sum()
    N = M.shape[1]
    return np.full(N, p), plus / (p if p else 1), np.full(N, q), minus / (q if q else 1)


@wrong(
    "signs",
    says="A column without one of the signs is divided by 0.",
    section="two-averages-and-a-sign",
)
def divided_by_zero(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    return p, plus / p, q, minus / q


@wrong(
    "signs",
    says="Where one sign is missing your average is a column of zeros, whose sum is not 1.",
    section="what-the-sums-of-a-say",
)
def column_of_zeros(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    return p, plus / np.where(p > 0, p, 1), q, minus / np.where(q > 0, q, 1)


@wrong(
    "signs",
    says="You add a small number to every sum before you divide, so nothing sums to 1 exactly.",
    section="what-the-sums-of-a-say",
)
def padded_sums(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = (plus + 1e-5 / len(M)) / (p + 2e-5)
    A_2 = (minus + 1e-5 / len(M)) / (q + 2e-5)
    return p, A_1, q, A_2


@wrong(
    "signs",
    says="You lift all weights above 0 and take the lift away again: that works, but p and q are larger than "
    "they need to be.",
    section="two-averages-and-a-sign",
)
def lifted(M):
    S, N = M.shape
    lift = np.maximum(0, -M.min(axis=0))
    lifted = M + lift
    p = lifted.sum(axis=0)
    A_1 = np.where(p > 0, lifted / np.where(p > 0, p, 1), 1 / S)
    return p, A_1, S * lift, np.full((S, N), 1 / S)


@wrong(
    "signs",
    says="You make averages with a softmax; they are positive, but they do not have the shares of the filter.",
    section="two-averages-and-a-sign",
)
def by_softmax(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1, A_2 = np.exp(M), np.exp(-M)
    return p, A_1 / A_1.sum(axis=0), q, A_2 / A_2.sum(axis=0)


@wrong(
    "signs",
    says="You divide both parts by the sum of all absolute values, so neither sums to 1.",
    section="what-the-sums-of-a-say",
)
def by_absolute_sum(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    total = np.where(p + q > 0, p + q, 1)
    return p, np.where(p > 0, plus / total, 1 / len(M)), q, np.where(q > 0, minus / total, 1 / len(M))


@wrong(
    "signs",
    says="Where one sign is missing you copy the other average; the question asks for equal shares there.",
    section="two-averages-and-a-sign",
)
def copies_the_other(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return p, np.where(p > 0, A_1, A_2), q, np.where(q > 0, A_2, A_1)


@wrong(
    "signs",
    says="You erase the negative weights inside the array that came in, so the caller's filter is gone afterwards.",
    section="two-averages-and-a-sign",
)
def erases_in_place(M):
    minus = np.maximum(-M, 0)
    M[M < 0] = 0
    p, q = M.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, M / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return p, A_1, q, A_2


@wrong(
    "signs",
    says="Both sizes come before both averages; the order is p, A_1, q, A_2.",
    section="two-averages-and-a-sign",
)
def sizes_first(M):
    plus, minus = np.maximum(M, 0), np.maximum(-M, 0)
    p, q = plus.sum(axis=0), minus.sum(axis=0)
    A_1 = np.where(p > 0, plus / np.where(p > 0, p, 1), 1 / len(M))
    A_2 = np.where(q > 0, minus / np.where(q > 0, q, 1), 1 / len(M))
    return p, q, A_1, A_2


# gradient


@wrong(
    "gradient",
    says="By the scores you return the gradient by the weights: the softmax between them is left out.",
    section="the-gradient-once-more",
)
def softmax_left_out(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, dA.copy()


@wrong(
    "gradient",
    says="You multiply by the weights alone and leave out the second term, which the denominator brings.",
    section="the-gradient-once-more",
)
def denominator_forgotten(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * dA


@wrong(
    "gradient",
    says="You keep only what the denominator brings: each weight also grows with its own score, through the numerator.",
    section="the-gradient-once-more",
)
def denominator_alone(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, -A * (A * dA).sum(axis=0)


@wrong(
    "gradient",
    says="You differentiate each weight by its own score only, as if it were a sigmoid; the other scores of "
    "the column count as well.",
    section="the-gradient-once-more",
)
def own_score_only(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * (1 - A) * dA


@wrong(
    "gradient",
    says="The average inside the bracket is a plain sum; it has to be weighted.",
    section="the-gradient-once-more",
)
def plain_sum_inside(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * (dA - dA.sum(axis=0))


@wrong(
    "gradient",
    says="The average inside the bracket is a plain mean, as if all weights were equal.",
    section="the-gradient-once-more",
)
def plain_mean_inside(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * (dA - dA.mean(axis=0))


@wrong(
    "gradient",
    says="The sum inside the bracket runs over the outputs: it must run over the sources that compete.",
    section="what-the-sums-of-a-say",
)
def sum_over_outputs(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * (dA - (A * dA).sum(axis=1, keepdims=True))


@wrong(
    "gradient",
    says="You forget the weight in front of the bracket.",
    section="the-gradient-once-more",
)
def no_weight_in_front(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, dA - (A * dA).sum(axis=0)


@wrong(
    "gradient",
    says="The sign of the gradient by the scores is turned round.",
    section="the-gradient-once-more",
)
def sign_turned_round(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * ((A * dA).sum(axis=0) - dA)


@wrong(
    "gradient",
    says="Your softmax runs along the outputs: the columns of A do not sum to 1.",
    section="what-the-sums-of-a-say",
)
def softmax_over_outputs(X, scores, dY):
    A = np.exp(scores - scores.max(axis=1, keepdims=True))
    A = A / A.sum(axis=1, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * (dA - (A * dA).sum(axis=1, keepdims=True))


@wrong(
    "gradient",
    says="Two neighbours in your product for the tokens have different inner sizes: one index is summed over "
    "that should be left.",
    section="the-gradient-once-more",
)
def weights_not_transposed(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A, dA, A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="Your gradient by the weights lies on its side.",
    section="the-gradient-once-more",
)
def weights_on_their_side(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA.T, A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="The gradient by the tokens uses the scores where the weights should stand.",
    section="the-gradient-once-more",
)
def scores_for_weights(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ scores.T, dA, A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="You divide the gradient by the tokens by the number of outputs; the loss is a sum and no mean.",
    section="the-gradient-once-more",
)
def mean_over_outputs(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T / dY.shape[1], dA, A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="The gradient by the weights uses the outputs where their gradient should stand.",
    section="the-gradient-once-more",
)
def outputs_for_gradient(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0, keepdims=True))
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ (X @ A)
    return dY @ A.T, dA, A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="You take the mean off the gradient by the weights; that the weights sum to 1 comes in only with the softmax.",
    section="the-gradient-once-more",
)
def centred_too_early(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0))
    A = A / A.sum(axis=0)
    dA = X.T @ dY
    return dY @ A.T, dA - dA.mean(axis=0), A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="The exponential meets large scores as they are and overflows.",
    section="a-soft-lookup-table",
)
def overflowing_scores(X, scores, dY):
    A = np.exp(scores)
    A = A / A.sum(axis=0, keepdims=True)
    dA = X.T @ dY
    return dY @ A.T, dA, A * (dA - (A * dA).sum(axis=0))


@wrong(
    "gradient",
    says="You return the gradients in another order than the question asks for.",
    section="the-gradient-once-more",
)
def another_order(X, scores, dY):
    A = np.exp(scores - scores.max(axis=0))
    A = A / A.sum(axis=0)
    dA = X.T @ dY
    return A * (dA - (A * dA).sum(axis=0)), dA, dY @ A.T


WRONG = wrong

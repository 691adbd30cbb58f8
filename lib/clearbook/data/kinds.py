"""Words of Jane Austen's novels by what they are, for questions and answers that follow a rule."""

import random

KINDS = {
    "lady": (
        "Emma Harriet Elizabeth Jane Lydia Kitty Mary Charlotte Caroline Georgiana Marianne Elinor Margaret Lucy Fanny "
        "Maria Julia Susan Catherine Isabella Eleanor Anne Louisa Henrietta"
    ),
    "gentleman": (
        "Edward John Robert William Henry Charles James Frederick Frank George Edmund Tom Darcy Bingley Wickham "
        "Collins Knightley Elton Willoughby Wentworth Brandon Walter Churchill Benwick"
    ),
    "place": (
        "Bath London Hartfield Highbury Barton Netherfield Longbourn Mansfield Northanger Pemberley Rosings Uppercross "
        "Kellynch Lyme Portsmouth Brighton Meryton Sotherton Cleveland Norland Randalls Donwell Enscombe Hunsford"
    ),
    "time": (
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July August September "
        "October November December morning evening night summer winter autumn week"
    ),
    "number": (
        "two three four five six seven eight nine ten eleven twelve fifteen sixteen eighteen twenty thirty forty fifty "
        "hundred thousand"
    ),
    "feeling": (
        "joy grief anger love hope fear delight surprise sorrow pleasure pain pride vanity jealousy gratitude pity "
        "shame regret happiness misery affection admiration anxiety contempt"
    ),
    "relative": (
        "father mother sister brother uncle aunt cousin daughter son wife husband niece nephew grandmother grandfather"
    ),
}


def split_words(seed: int = 0) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Pairs of a word and its kind: half of the words of every kind to learn from, the other half to test on."""
    rng, learned, held_out = random.Random(seed), [], []
    for kind, words in KINDS.items():
        shuffled = words.split()
        rng.shuffle(shuffled)
        half = len(shuffled) // 2
        learned += [(word, kind) for word in shuffled[:half]]
        held_out += [(word, kind) for word in shuffled[half:]]
    return learned, held_out

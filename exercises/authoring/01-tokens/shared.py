"""Letters for the words of exercise 01, and the library's tokeniser with merges that are given."""

from clearformer.tokenizers import WORD, BytePairTokenizer

LETTERS = "aeinorst"
WIDE = "üßéお茶"  # two or three bytes each


def library_tokenizer(merges, pattern=WORD):
    """The tokeniser of the library that has these merges and no other."""
    tokenizer = BytePairTokenizer("", 0, pattern=pattern)
    tokenizer.add_merges([tuple(pair) for pair in merges])
    return tokenizer

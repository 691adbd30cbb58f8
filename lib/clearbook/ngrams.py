"""What counting gives: the table of ``clearformer.ngrams``, by the name that the chapters use."""

from clearformer.ngrams import Ngrams as Ngrams

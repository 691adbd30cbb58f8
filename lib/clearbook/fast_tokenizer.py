"""The tokenizer of transformers for SmolLM2, from what its GGUF file says, without reading its lists again."""

from clearbook.weights import Words


def fast_tokenizer(words: Words):
    """A ``PreTrainedTokenizerFast`` with the pieces, the merges, the control tokens and the chat template of a file.

    Digits stand alone, and each byte has a letter, as in SmolLM2. ``AutoTokenizer`` with ``gguf_file`` gives the same,
    and takes ten seconds to read the file's lists.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    ids = {piece: i for i, piece in enumerate(words.pieces)}
    merges = [tuple(merge.split(" ")) for merge in words.merges]
    inner = Tokenizer(models.BPE(vocab=ids, merges=merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(piece, normalized=False, special=True) for piece in words.control])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token=words.pieces[words.end],
        chat_template=words.template,
        clean_up_tokenization_spaces=False,
    )

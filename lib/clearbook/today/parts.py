"""The parts that the column *your file lacks* names: what each is in a few words, and the section that tells more."""

HERE = "closer/12-families.ipynb"
PARTS = {  # the words of the column: what the part is, and a page with a section, seen from chapters/
    "a head of its own": (
        "a matrix for the scores of words, beside the embedding",
        "12-pretrained.ipynb#one-matrix-two-uses-weight-tying",
    ),
    "biases": ("a vector added after some of the matrices", f"{HERE}#what-each-family-changes"),
    "embeddings times √D": (
        "the embedding's rows, multiplied by the root of the width",
        f"{HERE}#gemma-3-norms-all-round-and-two-speeds",
    ),
    "a QK-norm over all heads at once": (
        "queries and keys are normalised before heads are split",
        f"{HERE}#olmo-2-the-norms-stand-elsewhere",
    ),
    "slower angles": (
        "rotary angles slowed down to read longer texts",
        "06-position.ipynb#slower-hands-rope-for-longer-texts",
    ),
    "heads turned in part": (
        "rotary positions on some features of a head alone",
        "06-position.ipynb#turn-a-part-turn-in-two-directions",
    ),
    "layers without positions": (
        "layers whose queries and keys are not turned",
        "06-position.ipynb#today-turn-slowly-turn-a-part-or-do-not-turn",
    ),
    "windows": ("layers that look back a limited number of tokens", "14-cost.ipynb#a-window"),
    "two rotary bases": (
        "layers with a window turn at other speeds",
        f"{HERE}#gemma-3-norms-all-round-and-two-speeds",
    ),
    "attention to selected tokens": (
        "a small scorer picks the tokens to be read",
        "16-todays-decoder.ipynb#today",
    ),
    "latent attention": (
        "keys and values are unpacked from one short vector",
        "16-todays-decoder.ipynb#a-smaller-cache-latent-attention",
    ),
    "other heads in some layers": (
        "layers without a window have fewer, wider keys",
        f"{HERE}#what-each-family-changes",
    ),
    "keys that serve as values": ("one matrix gives both keys and values", f"{HERE}#what-each-family-changes"),
    "sinks": (
        "one more score for each head, without a value",
        "03-self-attention.ipynb#today-the-same-formula-held-in-check",
    ),
    "another scale of the scores": (
        "scores are scaled by another number, or by position",
        "03-self-attention.ipynb#why-divide-by-the-square-root-of-k",
    ),
    "a gate on what attention gives": (
        "the output, multiplied by a sigmoid of the input",
        "03-self-attention.ipynb#today-the-same-formula-held-in-check",
    ),
    "capped scores": (
        "a tanh keeps the scores of attention small",
        "03-self-attention.ipynb#today-the-same-formula-held-in-check",
    ),
    "layers that are not attention": (
        "a state of fixed size instead of keys",
        "17-long-memory.ipynb#a-state-instead-of-a-cache-linear-attention",
    ),
    "experts": (
        "many feed-forward layers, of which a token uses few",
        "16-todays-decoder.ipynb#a-mixture-of-experts",
    ),
    "limits on the gate": ("gate and other map are cut off at a limit", f"{HERE}#what-each-family-changes"),
    "mixed streams": (
        "several residual streams, which each block mixes",
        "07-residual-norm.ipynb#today-rmsnorm-in-more-than-one-place",
    ),
    "a weighted residual sum": (
        "stream and sublayer are weighted before they are added",
        "07-residual-norm.ipynb#today-rmsnorm-in-more-than-one-place",
    ),
    "GELU": ("one bend, and no gate", "05-feed-forward.ipynb#the-bend-relu-gelu-silu"),
    "GEGLU": ("a gate with GELU in place of SiLU", "05-feed-forward.ipynb#a-gate-swiglu"),
    "ReLU²": (
        "a squared ReLU, and no gate",
        "05-feed-forward.ipynb#today-gates-everywhere-and-many-small-networks",
    ),
    "norms after each sublayer": (
        "what a sublayer gives is normalised, not its input",
        f"{HERE}#olmo-2-the-norms-stand-elsewhere",
    ),
    "norms before and after each sublayer": (
        "both what it reads and what it gives",
        f"{HERE}#gemma-3-norms-all-round-and-two-speeds",
    ),
    "capped logits": ("a tanh keeps the scores of words small", f"{HERE}#what-each-family-changes"),
    "a norm on values": ("values are normalised, too, without a learned scale", f"{HERE}#what-each-family-changes"),
    "a factor for each block": (
        "after each block the stream is multiplied by one number",
        f"{HERE}#what-each-family-changes",
    ),
    "a steeper gate": ("SiLU with a steeper sigmoid", f"{HERE}#what-each-family-changes"),
    "1 added to what the gate multiplies": (
        "gate times the other map plus one",
        f"{HERE}#what-each-family-changes",
    ),
    "compressed keys": ("several tokens are merged into one key", f"{HERE}#what-each-family-changes"),
    "queries and outputs by two matrices each": (
        "a narrow matrix, and a wide one after it",
        f"{HERE}#what-each-family-changes",
    ),
    "outputs that are turned back": (
        "values are turned keys, so the average is turned back",
        f"{HERE}#what-each-family-changes",
    ),
    "norms of embeddings": ("the rows of the embedding are normalised", f"{HERE}#what-each-family-changes"),
    "norms of what each head gives": (
        "each head's average is normalised before they are joined",
        f"{HERE}#what-each-family-changes",
    ),
    "norms in the experts": ("what experts read and give is normalised", f"{HERE}#what-each-family-changes"),
    "a factor on the scores of words": ("one number multiplies the logits", f"{HERE}#what-each-family-changes"),
}

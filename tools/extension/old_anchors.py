"""Anchors of sections that have another heading now: a link of before still finds its section."""

# A page, and its old anchors with those of today.
OLD = {
    "chapters/05-feed-forward": {
        "a-gate": "a-gate-swiglu",
        "the-bend": "the-bend-relu-gelu-silu",
    },
    "chapters/06-position": {
        "slower-hands": "slower-hands-rope-for-longer-texts",
    },
    "chapters/07-residual-norm": {
        "identity-plus-a-bit": "identity-plus-a-bit-the-residual-connection",
        "one-token-at-a-time": "one-token-at-a-time-layernorm",
        "do-we-need-the-mean": "do-we-need-the-mean-rmsnorm",
    },
    "chapters/12-pretrained": {
        "one-matrix-two-uses": "one-matrix-two-uses-weight-tying",
    },
    "chapters/14-cost": {
        "keys-fetched-once": "keys-fetched-once-grouped-queries",
        "one-pass-is-enough": "one-pass-is-enough-the-online-softmax",
        "fewer-bytes-for-a-number": "fewer-bytes-for-a-number-quantisation",
        "a-cache-in-pages": "a-cache-in-pages-paged-attention",
    },
    "chapters/16-todays-decoder": {
        "a-smaller-cache": "a-smaller-cache-latent-attention",
        "read-only-what-matters": "read-only-what-matters-sparse-attention",
        "more-than-one-stream": "more-than-one-stream-hyper-connections",
        "fewer-passes-with-the-same-distribution": "fewer-passes-with-the-same-distribution-speculative-decoding",
    },
    "chapters/17-long-memory": {
        "a-state-instead-of-a-cache": "a-state-instead-of-a-cache-linear-attention",
        "a-state-that-can-overwrite": "a-state-that-can-overwrite-the-delta-rule",
        "selective-states": "selective-states-mamba",
    },
    "chapters/18-tuning": {
        "which-answer-is-better": "which-answer-is-better-dpo",
        "weights-that-are-added": "weights-that-are-added-lora",
    },
    "chapters/19-rewards": {
        "what-a-group-says": "what-a-group-says-grpo",
    },
}


def keep_old_anchors(app, pagename, templatename, context, doctree) -> None:
    """Beside each section that was renamed, an empty place with its old name."""
    for old, new in OLD.get(pagename, {}).items():
        section = f'<section id="{new}">'
        if context.get("body"):
            context["body"] = context["body"].replace(section, f'{section}<span id="{old}"></span>', 1)


def setup(app):
    app.connect("html-page-context", keep_old_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

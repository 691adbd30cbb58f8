"""A conversation as the one text that a model was trained to read, by the Jinja template that comes with it."""

import functools
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from clearformer.checks import check_items, check_path, check_text, shorten
from clearformer.tokenizers import BytePairTokenizer
from clearformer.weight_files import read_object

TEMPLATE, CONFIG = "chat_template.jinja", "tokenizer_config.json"
TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")  # that a template may write
GUARDS = [chr(code) for code in range(0xFDD0, 0xFDF0)]  # noncharacters: no text for people holds them
EXAMPLE = '[{"role": "user", "content": "Hello"}]'


class ChatTemplate:
    """Messages with a ``"role"`` and a ``"content"`` become a text, and the text ids.

    A template is a program: it runs in Jinja's sandbox, where it reaches no file and no other object. ``tokens`` are
    what it may write by name, such as ``bos_token="<s>"``.

    Raises: TypeError for what is no text; ValueError for one that is no template.
    """

    def __init__(self, template: str, **tokens: str):
        from jinja2.exceptions import TemplateError

        check_text("ChatTemplate", "template", template)
        self.text, self.tokens = template, tokens
        try:
            self._template = _environment().from_string(template)
        except TemplateError as error:
            raise ValueError(f"ChatTemplate: {shorten(template)} is no template of Jinja ({error}).") from error

    def render(self, messages: Sequence[dict[str, Any]], *, add_generation_prompt: bool = True, **variables) -> str:
        """The text of a conversation, up to where the answer begins, or to its end without ``add_generation_prompt``.

        ``variables`` are whatever else the template asks for, as ``tools``.

        Raises: TypeError or ValueError for messages of another form, and what the template itself refuses.
        """
        messages = _checked_messages(messages)
        given = self.tokens | {"messages": messages, "add_generation_prompt": add_generation_prompt} | variables
        try:
            return self._template.render(**given)
        except Exception as error:  # a template computes with what it is given, and may raise anything
            raise ValueError(f"ChatTemplate: the template refuses the conversation ({error}).") from error

    def encode(
        self,
        tokenizer: BytePairTokenizer,
        messages: Sequence[dict[str, Any]],
        *,
        add_generation_prompt: bool = True,
        **variables,
    ) -> list[int]:
        """The ids of a conversation. Special tokens are those that the template writes: a message that spells one is
        text, so that nobody ends a turn from within.

        Raises: as ``render``.
        """
        messages = _checked_messages(messages)
        texts = [text for message in messages for text in _texts(message)]
        guard = next((g for g in GUARDS if not any(g in text for text in texts)), None)
        if guard is None:
            raise ValueError("ChatTemplate: the messages hold every noncharacter, expected text.")
        guarded = [_guarded(message, tokenizer, guard) for message in messages]
        text = self.render(guarded, add_generation_prompt=add_generation_prompt, **variables)
        ids = []
        for place, part in enumerate(tokenizer.cut_special(text)):
            ids += tokenizer.encode(part.replace(guard, ""), allow_special=place % 2 == 1)
        return ids

    def with_answers(
        self, tokenizer: BytePairTokenizer, messages: Sequence[dict[str, Any]], **variables
    ) -> tuple[list[int], list[int]]:
        """The ids of a conversation, and 1 for each token of an assistant's answer, 0 for the others: ``packing.pack``
        takes them as a document and its ``counts``.

        An answer is what follows the prompt for it, with the token that ends it.

        Raises: as ``render``; ValueError for a template that changes earlier turns when later ones come.
        """
        messages = _checked_messages(messages)
        ids = self.encode(tokenizer, messages, add_generation_prompt=False, **variables)
        counts = [0] * len(ids)
        for turn, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            asked = self.encode(tokenizer, messages[:turn], **variables)
            told = self.encode(tokenizer, messages[: turn + 1], add_generation_prompt=False, **variables)
            if ids[: len(told)] != told or told[: len(asked)] != asked:
                raise ValueError(
                    f"ChatTemplate: message {turn} is written otherwise when it is the last, so its tokens cannot be "
                    "told from the others. Make a conversation of each answer and what is before it."
                )
            counts[len(asked) : len(told)] = [1] * (len(told) - len(asked))
        return ids, counts


def load_chat_template(folder: str | Path) -> ChatTemplate:
    """The template of a folder of ``from_pretrained``, in ``chat_template.jinja`` or ``tokenizer_config.json``.

    Raises: FileNotFoundError for a folder without one; ValueError for files that are damaged, or as ``ChatTemplate``.
    """
    folder = check_path("load_chat_template", "folder", folder, "a folder with a chat template")
    options = read_object("load_chat_template", folder / CONFIG) if (folder / CONFIG).is_file() else {}
    if (folder / TEMPLATE).is_file():
        template = (folder / TEMPLATE).read_text(encoding="utf-8")
    else:
        template = _default(options.get("chat_template"))
    if template is None:
        raise FileNotFoundError(
            f"load_chat_template: {folder} has no chat template, neither {TEMPLATE} nor in {CONFIG}."
        )
    tokens = {name: _content(options.get(name)) for name in TOKENS if options.get(name) is not None}
    return ChatTemplate(template, **tokens)


def _default(templates: Any) -> Any:
    """The one template, or of several the one that is called default."""
    if not isinstance(templates, list):
        return templates
    named = [t for t in templates if isinstance(t, dict)]
    return next((t.get("template") for t in named if t.get("name") == "default"), None)


def _content(token: Any) -> str:
    return token.get("content", "") if isinstance(token, dict) else str(token)


def _checked_messages(messages: Any) -> list[dict[str, Any]]:
    found = check_items("ChatTemplate", "messages", messages, f"a list of messages, such as {EXAMPLE}")
    for message in found:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise TypeError(f"ChatTemplate: message {shorten(message)}, expected one such as {EXAMPLE[1:-1]}.")
    return found


def _texts(value: Any) -> list[str]:
    """All texts in a message, but for its role."""
    if isinstance(value, str):
        return [value]
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    return [text for part in parts for text in _texts(part)]


def _guarded(value: Any, tokenizer: BytePairTokenizer, guard: str) -> Any:
    """A message in which every special token is broken by ``guard`` behind its first character."""
    if isinstance(value, str):
        parts = tokenizer.cut_special(value)
        return "".join(p[:1] + guard + p[1:] if place % 2 else p for place, p in enumerate(parts))
    if isinstance(value, dict):
        return {key: v if key == "role" else _guarded(v, tokenizer, guard) for key, v in value.items()}
    return [_guarded(part, tokenizer, guard) for part in value] if isinstance(value, list | tuple) else value


@functools.cache
def _environment():
    """Jinja's sandbox with what templates of models expect besides: ``tojson``, ``raise_exception``, the date."""
    from jinja2.exceptions import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise TemplateError(message)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    made.filters["tojson"] = tojson
    made.globals |= {"raise_exception": raise_exception, "strftime_now": lambda form: datetime.now().strftime(form)}
    return made

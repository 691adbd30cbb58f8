"""``python -m clearformer chat``: what comes through a pipe is answered, and it ends in order."""

import io
import json
import subprocess
import sys

import pytest
import torch
from clearformer import BERT, BERTConfig, BytePairTokenizer, save_pretrained, save_tokenizer
from clearformer.commands import conversation, main
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.pretrained.gpt2_words import gpt2_word

END, USER = "<|endoftext|>", "<|user|>"
TEMPLATE = "{% for m in messages %}<|user|>{{ m.role }}:{{ m.content }}\n{% endfor %}"


@pytest.fixture
def folder(tmp_path):
    """A decoder with learned positions, which knows no more than its random weights."""
    tokenizer = BytePairTokenizer("ab abc abcd " * 9, 5, pattern=gpt2_word(), special=[USER, END])
    model = GPT(GPTConfig(n_vocab=tokenizer.n_vocab, n_positions=64, d_model=8, n_heads=2, n_layers=1))
    model.labels_and_tokens = {"eos_token_id": tokenizer.special[END]}
    save_pretrained(model, tmp_path)
    save_tokenizer(tokenizer, tmp_path)
    return tmp_path


def chat(folder, monkeypatch, typed, *options):
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return main(["chat", str(folder), "--tokens", "6", "--device", "cpu", "--seed", "3", *options])


def read_prompts(monkeypatch):
    """The ids that the model is given, each time it writes."""
    given, stream_tokens = [], conversation.stream_tokens

    def noting(model, ids, n_tokens, **options):
        given.append((ids[0].tolist(), n_tokens, options))
        return stream_tokens(model, ids, n_tokens, **options)

    monkeypatch.setattr(conversation, "stream_tokens", noting)
    return given


def test_without_a_template_it_writes_on_from_each_line(folder, monkeypatch, capsys):
    """Catches a line that begins with the one before it, and an empty line that begins anew."""
    given = read_prompts(monkeypatch)
    assert chat(folder, monkeypatch, "abc\n\nab\n") == 0
    said = capsys.readouterr()
    assert "writes on from what you type" in said.err
    tokenizer = conversation.load_tokenizer(folder)
    texts = [tokenizer.decode(ids) for ids, _, _ in given]
    assert texts[0] == "abc" and texts[2] == "ab" and texts[1].startswith("abc") and len(texts[1]) > 3
    assert said.out.startswith(texts[1][3:] + "\n")


def test_the_same_seed_gives_the_same_answers(folder, monkeypatch, capsys):
    said = []
    for _ in range(2):
        assert chat(folder, monkeypatch, "abc\nab") == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] and len(said[0]) > 4


def test_with_a_template_it_answers_and_remembers(folder, monkeypatch, capsys):
    """Catches a typed line that becomes a special token, a forgotten system text, and an answer that is not kept."""
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    given = read_prompts(monkeypatch)
    assert chat(folder, monkeypatch, f"a{USER}\nb\n", "--system", "s") == 0
    assert "It answers" in capsys.readouterr().err
    tokenizer = conversation.load_tokenizer(folder)
    first, second = (tokenizer.decode(ids) for ids, _, _ in given)
    assert first == f"{USER}system:s\n{USER}user:a{USER}\n"
    assert given[0][0].count(tokenizer.special[USER]) == 2
    assert second.endswith(f"{USER}user:b\n") and len(second) < len(first) + 64


def test_old_turns_are_forgotten_where_all_would_not_fit(folder, monkeypatch, capsys):
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    given = read_prompts(monkeypatch)
    assert chat(folder, monkeypatch, "aa bb cc\n" * 6 + "z" * 99 + "\n") == 0
    assert all(len(ids) + n <= 64 for ids, n, _ in given) and len(given) == 7


def test_the_token_that_ends_a_text_is_not_printed(folder, monkeypatch, capsys):
    """Catches an end that is written out, and files whose word on it is not heard."""
    end = conversation.load_tokenizer(folder).special[USER]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [end]}), encoding="utf-8")
    monkeypatch.setattr(conversation, "stream_tokens", lambda *_, stop, **__: iter(torch.tensor([[97], [stop[1]]])))
    assert chat(folder, monkeypatch, "b\n") == 0
    assert capsys.readouterr().out == "a\n"


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], {"temperature": 0.8, "top_k": None, "top_p": 0.95}),
        (["--top-k", "3"], {"temperature": 0.8, "top_k": 3, "top_p": None}),
        (["--temperature", "0"], {"temperature": 0.0}),
    ],
)
def test_the_options_reach_the_draw(folder, monkeypatch, options, expected):
    given = read_prompts(monkeypatch)
    assert chat(folder, monkeypatch, "ab\n", *options) == 0
    _, n_tokens, used = given[0]
    assert (
        n_tokens == 6 and {name: used[name] for name in used if name in ("temperature", "top_k", "top_p")} == expected
    )


def test_ctrl_c_ends_an_answer_and_then_the_conversation(folder, monkeypatch, capsys):
    """Catches a traceback, and a conversation that ends with its first long answer."""

    def interrupted(*_, **__):
        yield torch.tensor([97])
        raise KeyboardInterrupt

    monkeypatch.setattr(conversation, "stream_tokens", interrupted)
    assert chat(folder, monkeypatch, "ab\nab\n") == 0
    assert capsys.readouterr().out == "a\na\n"

    def at_the_prompt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", at_the_prompt)
    assert chat(folder, monkeypatch, "") == 0


def test_what_cannot_talk_is_refused_in_a_sentence(folder, tmp_path, monkeypatch, capsys):
    def said(*arguments):
        assert chat(*arguments) == 1
        return capsys.readouterr().err

    (tmp_path / "empty").mkdir()
    assert "has no config.json" in said(tmp_path / "empty", monkeypatch, "")
    assert "does not exist" in said(tmp_path / "nothing", monkeypatch, "")
    assert "has no chat template to put it in" in said(folder, monkeypatch, "", "--system", "s")
    assert "do nothing at --temperature 0" in said(folder, monkeypatch, "", "--temperature", "0", "--top-k", "2")
    save_pretrained(BERT(BERTConfig(n_vocab=9, n_positions=4, d_model=4, n_heads=2, n_layers=1)), tmp_path / "bert")
    assert "is a BERT that writes no text" in said(tmp_path / "bert", monkeypatch, "")


@pytest.mark.slow
def test_a_pipe_is_answered_by_a_process_of_its_own(folder):
    """Catches an input that has to be a terminal, and bytes that are no text."""
    command = [sys.executable, "-m", "clearformer", "chat", str(folder), "--tokens", "3", "--device", "cpu"]
    done = subprocess.run(command, input=b"ab\n\xff\n", capture_output=True)
    assert done.returncode == 0 and done.stdout.count(b"\n") >= 2 and b"Traceback" not in done.stderr

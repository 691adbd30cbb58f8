"""What the questions beside the live model find out, without a page: tools/site/live/tasks.js in Node."""

import json
import shutil
import subprocess

import pytest

from tools.extension.live_transformer import SOURCES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")]

# A model of letters that looks at each token as TABLE says, and whose likeliest letters are those of a script.
SETUP = """
const live = require(process.argv[1] + "/writer.js");
const tasks = require(process.argv[1] + "/tasks.js"); // in a page all share one object
tasks.percent = (p) => `${100 * p} %`;
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const script = { of: (n) => "x" };
const model = {
    end: 0, dropped: () => 0, piece: (id) => String.fromCodePoint(id),
    encode: (text) => ({ ids: [0, ...Array.from(text, (letter) => letter.codePointAt(0))], unknown: [] }),
    decode: (ids) => String.fromCodePoint(...ids),
};
live.Reading = class {
    constructor() { this.ids = []; }
    get length() { return this.ids.length; }
    keepPrefix() { this.ids = []; }
    read(id) { this.ids.push(id); }
    logits(n) { return n; }
    weight(layer, head, n, s) {
        return layer === 2 && head === 1 ? { a: 0.375, b: 0.5 }[model.piece(this.ids[s])] || 0 : 1;
    }
};
live.distribution = () => ({ order: [script.of(writer.added.length).codePointAt(0)] });
live.draw = () => { throw new Error("drawn by lot"); };
const page = {
    settings: { temperature: 0.8 }, cached: true, pace: 0,
    showText() {}, showProgress() {}, showRun() {}, render() {}, picture: { look(...head) { page.head = head; } },
};
const writer = page.writer = new live.Writer(model, page);
const choices = (...values) => values.map((value) => ({ value, text: value }));
(async () => {
    console.log(JSON.stringify(await (async () => { BODY })()));
})();
"""


def run_tasks(body: str):
    script = SETUP.replace("BODY", body)
    done = subprocess.run(["node", "-e", script, str(SOURCES)], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def repeating_from(ids: list[int]) -> int:
    """The shortest period of the last tokens, kept for two rounds and twelve tokens after the first; 0 for none."""
    for length in range(1, 41):
        seen = max(2 * length, 12) + length
        tail = ids[-seen:]
        if len(tail) == seen and all(a == b for a, b in zip(tail, tail[length:], strict=False)):
            return length
    return 0


def test_a_round_is_the_shortest_that_repeats():
    """Catches a round seen in a stammer, one missed, a multiple of it, or one longer than is looked for."""
    word = list(range(100, 113))
    texts = [
        [],
        [5] * 12,
        [5] * 13,
        [1, 2] * 7,
        word * 2,
        [7, 7, *word * 3],
        [*word * 3, 7],
        [*word, *word[:-1], 9, *word],
        [*range(40)] * 3,
        [*range(41)] * 3,
    ]
    found = run_tasks(f"return {texts}.map(tasks.roundOf)")
    assert found == [repeating_from(ids) for ids in texts]
    assert found == [0, 0, 1, 2, 0, 13, 0, 0, 40, 0]


@pytest.mark.parametrize(
    ("script", "answer", "words"),
    [
        ('n < 30 ? String.fromCodePoint(200 + n) : "abc"[n % 3]', "loops", "a round of 3 tokens"),
        ('n < 20 ? String.fromCodePoint(200 + n) : "\\0"', "ends", "ended after 23 tokens"),
        ("String.fromCodePoint(200 + n)", "goes on", "160 tokens"),
    ],
)
def test_the_likeliest_tokens_are_written_until_it_is_clear(script, answer, words):
    """Catches tokens drawn by lot, a reader's setting that is changed, and an answer that does not fit the text."""
    body = f"""script.of = (n) => {script};
        const found = await tasks.ANSWERS.loop({{ text: "I" }}, page);
        return [found, page.settings, writer.added.length, Boolean(writer.running)];"""
    (right, told), settings, written, running = run_tasks(body)
    assert right == answer and words in told and settings == {"temperature": 0.8} and not running
    assert written == {"loops": 30 + 15, "ends": 21, "goes on": 160}[answer]


@pytest.mark.parametrize("act", ["writer.stop()", 'writer.write("other")', 'writer.hear("other")', "writer.takeBack()"])
def test_who_interrupts_the_model_gets_no_verdict(act):
    """Catches a verdict on a text that the reader has written or stopped."""
    body = f"""page.pace = 5;
        script.of = (n) => String.fromCodePoint(200 + n);
        const asked = tasks.ANSWERS.loop({{ text: "I" }}, page);
        while (writer.added.length < 3) await wait(1);
        {act};
        return [await asked, writer.ids.length];"""
    found, length = run_tasks(body)
    assert found is None and length < 20


def test_what_a_head_looks_at_most_is_told_with_its_weights():
    """Catches another head, a word that stands twice and is counted once, and a choice that is not the heaviest."""
    body = """const task = { text: "abac", head: [2, 1], choices: choices("b", "a", "z") };
        const first = await tasks.ANSWERS.look(task, page);
        return [first, page.head, await tasks.ANSWERS.look({ ...task, text: "abc" }, page)];"""
    twice, head, once = run_tasks(body)
    assert head == [2, 1]
    assert twice == ["a", "“c” gives “b” 50 %, “a” 75 %, “z” 0 % of its weight."]
    assert once == ["b", "“c” gives “b” 50 %, “a” 37.5 %, “z” 0 % of its weight."]


@pytest.mark.parametrize(("text", "answer"), [("ab", "as many"), ("ééé", "more"), ("aaaa", "fewer")])
def test_pieces_are_counted_for_a_letter(text, answer):
    """Catches a comparison of lengths alone, with the start token, or the wrong way round."""
    body = f"""const whole = model.encode, two = {{ "é": 2, a: 0.5 }};
        model.encode = (text) => {{
            const pieces = Array.from(text).reduce((sum, letter) => sum + (text.includes("b") ? 1 : two[letter]), 0);
            return {{ ...whole(text), ids: Array(1 + pieces).fill(97) }};
        }};
        return tasks.ANSWERS.pieces({{ text: "{text}", beside: "bcb" }}, page);"""
    right, told = run_tasks(body)
    assert right == answer
    assert told.startswith("“bcb” takes 3 tokens")

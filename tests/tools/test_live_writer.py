"""What the live transformer does with a text while it is read, without a page: tools/site/live/writer.js in Node."""

import json
import shutil
import subprocess

import pytest

from tools.extension.live_transformer import SOURCES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")]

# A model of letters; to read one takes so long that a slice holds a few. `told` is all that the page hears.
SETUP = """
const live = require(process.argv[1]);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const model = {
    end: 0, dropped: () => 0,
    encode: (text) => ({ ids: [0, ...Array.from(text, (letter) => letter.codePointAt(0))], unknown: [] }),
    decode: (ids) => String.fromCodePoint(...ids),
};
const drawn = [], told = { texts: [], renders: 0, runs: [] };
live.Reading = class {
    constructor() { this.ids = []; }
    get length() { return this.ids.length; }
    keepPrefix(ids) {
        let same = 0;
        while (same < this.length && this.ids[same] === ids[same]) same++;
        this.ids.length = same;
    }
    read(id) {
        for (const until = performance.now() + 3; performance.now() < until;);
        this.ids.push(id);
    }
    logits(n) { return n; }
};
live.distribution = (n) => n;
live.draw = (n) => {
    drawn.push([n + 1, writer.ids.length]);
    return "x".codePointAt(0);
};
const page = {
    settings: {}, cached: true, pace: 0,
    showText(text) { told.texts.push(text); },
    showProgress() {},
    showRun() { told.runs.push(Boolean(writer.running)); },
    render() { told.renders++; },
};
const writer = new live.Writer(model, page);
const until = (done) => (done() ? null : wait(1).then(() => until(done)));
(async () => {
    const found = await (async () => { BODY })();
    const text = model.decode(writer.ids.slice(1)), read = writer.reading.length;
    console.log(JSON.stringify({ found, drawn, told, text, read }));
})();
"""


def run_writer(body: str) -> dict:
    script = SETUP.replace("BODY", body)
    done = subprocess.run(
        ["node", "-e", script, str(SOURCES / "writer.js")], capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_wanted_token_waits_for_the_text_before_it():
    """Catches a bar that throws away what is not read yet, or that forgets which token was chosen."""
    done = run_writer("""writer.write("abcdefghij");
        const early = writer.reading.length;
        await writer.take("!".codePointAt(0));
        const whole = model.decode(writer.ids.slice(1));
        writer.choose(3);
        await writer.take("?".codePointAt(0));
        return [early, whole];""")
    early, whole = done["found"]
    assert early < 11 and whole == "abcdefghij!" and done["text"] == "abc?" and done["read"] == 5
    assert done["told"]["texts"][-1] == "abc?"


def test_no_token_is_drawn_from_half_of_a_text():
    """Catches two presses that draw from the same reading, and one that draws while the text is read again."""
    done = run_writer("""page.cached = false;
        writer.write("abcdef");
        await Promise.all([writer.step(), writer.step(), writer.take("!".codePointAt(0)), writer.step()]);""")
    assert done["text"] == "abcdefxx!x" and done["read"] == 11
    assert done["drawn"] == [[7, 7], [8, 8], [10, 10]]


def test_a_run_that_is_stopped_and_begun_again_runs_once():
    """Catches two loops that write side by side, the first of which has not seen that it was stopped."""
    done = run_writer("""await writer.write("a");
        page.pace = 60;
        for (let i = 0; i < 4; i++) {
            writer.run();
            writer.stop();
        }
        writer.run();
        await wait(200);
        writer.stop();
        const length = writer.ids.length;
        await wait(100);
        return [length, writer.ids.length];""")
    stopped, later = done["found"]
    assert 2 <= len(done["drawn"]) <= 4 and stopped == later and done["told"]["runs"][-1] is False


def test_what_is_typed_ends_a_run_and_is_read_once():
    """Catches a letter that is lost to a token, and a reading for each of many changes."""
    done = run_writer("""await writer.write("a");
        writer.run();
        await until(() => writer.ids.length > 3);
        ["b", "bc", "bcd"].forEach((text) => writer.hear(text));
        await writer.settled();
        await wait(40);""")
    assert done["text"] == "bcd" and done["read"] == 4 and done["told"]["texts"].count("bcd") == 1
    assert not {"b", "bc"} & set(done["told"]["texts"])


def test_a_writer_that_was_left_says_no_more():
    """Catches a token for the model before, which would come into the text of the model that is shown now."""
    done = run_writer("""writer.write("abcdefghij");
        writer.step();
        writer.hear("other");
        writer.take("!".codePointAt(0));
        writer.leave();
        await wait(80);""")
    assert done["told"]["texts"] == ["abcdefghij"] and done["told"]["renders"] == 0

"""What the operations on the live model do, without a page: heads, columns and costs beside the library's, in Node."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import torch

from tests.book.play import surgery
from tools import ROOT
from tools.extension import play
from tools.extension.live_weights import shipped_file
from tools.play import operate_on_it as texts

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")]

FOLDER = ROOT / "tools" / "site"
SETUP = """
const fs = require("fs"), [site, folder] = process.argv.slice(1, 3);
globalThis.window = globalThis;
for (const file of ["tokenizer", "weights", "model"]) require(`${site}/live/${file}.js`);
require(`${site}/play/operate-on-it/surgery.js`);
const live = window.ClearformerLive, bytes = fs.readFileSync(`${folder}/model.safetensors`);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
const model = live.openModel(fs.readFileSync(`${folder}/config.json`, "utf8"), buffer);
const given = JSON.parse(fs.readFileSync(0, "utf8")), ids = (text) => model.encode(text).ids;
const read = (text, hooks) => live.finish(live.readAll(model, ids(text), hooks));
const bits = (text, heads, rows) => live.finish(live.bitsOf(read(text, live.changing(heads, rows))));
console.log(JSON.stringify((() => { BODY })()));
"""
KINDS = [(head, kind) for head in ((0, 0), (1, 3), (2, 1), (3, 2)) for kind in surgery.KINDS]


def run_surgery(body: str, given=None):
    with tempfile.TemporaryDirectory() as folder:  # the model as a click brings it
        shutil.copy(texts.MODEL / "config.json", folder)
        (Path(folder) / "model.safetensors").write_bytes(shipped_file(texts.MODEL))
        done = subprocess.run(
            ["node", "-e", SETUP.replace("BODY", body), str(FOLDER), folder],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=1800,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def close(found, expected):
    torch.testing.assert_close(torch.tensor(found), torch.as_tensor(expected), atol=1e-3, rtol=0)


def test_changed_heads_cost_what_they_cost_the_librarys_model():
    """Catches another head, a row that is shifted, weights that do not sum to 1, and a head that is off and speaks."""
    body = "return given.map(([text, heads, rows]) => bits(text, heads, rows));"
    given = [[texts.TWO_NAMES, {f"{m},{h}": kind}, {}] for (m, h), kind in KINDS]
    expected = [surgery.bits(texts.TWO_NAMES, {head: surgery.KINDS[kind]}) for head, kind in KINDS]
    given += [[texts.PAGE, {}, {}], [texts.PAGE, {"0,0": "first", "3,1": "off"}, {}]]
    expected += [
        surgery.bits(texts.PAGE),
        surgery.bits(texts.PAGE, {(0, 0): surgery.KINDS["first"], (3, 1): surgery.KINDS["off"]}),
    ]
    parts = [0, 1, 0, 3, 0, 2]
    given.append([texts.TWO_NAMES, {"2,0": "painted", "1,1": "off"}, {"2,0": {"9": parts}, "1,1": {"3": [1]}}])
    expected.append(surgery.bits(texts.TWO_NAMES, {(2, 0): surgery.painted(9, parts), (1, 1): surgery.KINDS["off"]}))
    for found, own in zip(run_surgery(body, given), expected, strict=True):
        close(found, own)


def test_a_column_of_the_donor_is_put_in_its_place():
    """Catches a column of another depth or token, and one that comes after the layer that it was meant for."""
    places = [(m, n) for m in range(surgery.LAYERS + 1) for n in (1, 3, 5, 7)]
    body = """const words = [" she", " he"].map((word) => model.encode(word).ids[1]);
        const own = ids(given.text).slice(0, -1);
        const donor = live.finish(live.readAll(model, ids(given.donor).slice(0, -1)));
        return given.places.map((place) => live.finish(live.transplant(model, own, donor, place, words)));"""
    found = run_surgery(body, {"text": texts.ONE_NAME, "donor": texts.DONOR, "places": places})
    close(found, [surgery.transplanted(texts.ONE_NAME, texts.DONOR, *place) for place in places])


def test_the_dearest_heads_are_those_whose_loss_costs_most():
    """Catches a head that is left out, costs in another order, and progress that does not reach its end."""
    body = """const work = live.costs(model, ids(given)), shares = [];
        let step = work.next();
        for (; !step.done; step = work.next()) if (step.value !== undefined) shares.push(step.value);
        return [step.value, shares];"""
    found, shares = run_surgery(body, texts.TWO_NAMES)
    before = surgery.bits(texts.TWO_NAMES).sum()
    own = {
        f"{m},{h}": (surgery.bits(texts.TWO_NAMES, {(m, h): surgery.KINDS["off"]}).sum() - before).item()
        for m in range(surgery.LAYERS)
        for h in range(surgery.HEADS)
    }
    close([it["cost"] for it in found], [own[it["head"]] for it in found])
    assert {it["head"] for it in found} == own.keys()
    assert [it["cost"] for it in found] == sorted((it["cost"] for it in found), reverse=True)
    assert shares == [(i + 1) / 16 for i in range(16)]


def test_without_hooks_a_model_reads_as_before():
    """Catches hooks that are called though there are none, and an operation that stays when it is over."""
    body = """const heads = { "1,1": "off" }, hooks = live.changing(heads), reading = new live.Reading(model, hooks);
        ids(given).forEach((id) => reading.read(id));
        delete heads["1,1"];
        reading.cut(0);
        ids(given).forEach((id) => reading.read(id));
        return [read(given), reading].map((it) => Array.from(it.logits(it.length - 1)).join());"""
    plain, healed = run_surgery(body, texts.TWO_NAMES)
    assert plain == healed


def test_parts_are_shares():
    """Catches a painted row that does not sum to 1, and the division of nothing by nothing."""
    found = run_surgery("return [live.shares([1, 0, 3], 5), live.shares([0, 0], 2)];")
    assert found == [[0.25, 0, 0.75, 0, 0], [0, 0]]


def test_the_page_was_held_out_of_the_training():
    """Catches a text that the model has learned by heart, and one that is no text of Austen's."""
    from clearbook.data.austen import austen_split

    learned, held_out = (" ".join(" ".join(part).split()) for part in austen_split())
    assert texts.PAGE in held_out and texts.PAGE not in learned


def test_every_script_of_the_page_is_there():
    named = play.parts("operate-on-it")
    assert all((FOLDER / "play" / "operate-on-it" / script).is_file() for script in named["scripts"])

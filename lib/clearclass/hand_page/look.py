"""What the pages to grade by hand look like, beside what all pages of the grader share, and what their keys do."""

from clearcheck.report.document import STYLE as SHARED

STYLE = (
    SHARED
    + """
main { max-width: 76rem; }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, input:focus-visible, textarea:focus-visible, pre:focus-visible {
  outline: 3px solid var(--accent); outline-offset: 2px;
}
nav { display: flex; flex-wrap: wrap; gap: 0.4rem 1.4rem; margin-bottom: 1rem; }
nav a { padding: 0.2rem 0; }
nav input { width: 1.1rem; height: 1.1rem; vertical-align: text-bottom; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) 20rem; gap: 2rem; align-items: start; }
.beside form { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; padding: 4px; }
label, .label { display: block; margin: 0.8rem 0 0.2rem; font-weight: 600; }
nav label { margin: 0.2rem 0; font-weight: 400; }
#points, textarea, button {
  font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--soft); border-radius: 3px;
}
#points { width: 7rem; padding: 0.3rem 0.5rem; font-size: 1.3rem; }
textarea { width: 100%; min-height: 9rem; padding: 0.4rem 0.5rem; }
button { padding: 0.3rem 0.7rem; margin: 0.3rem 0.4rem 0 0; }
#state { min-height: 3rem; }
pre { overflow: auto; max-height: 40rem; margin: 0.5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { font: 0.9rem/1.5 "DejaVu Sans Mono", Consolas, monospace; }
pre.code { padding: 0.6rem 0.8rem; border: 1px solid var(--line); background: var(--desk); white-space: pre; }
.said pre { font-family: inherit; font-size: 1rem; }
.cell { margin: 1.2rem 0; }
img { max-width: 100%; height: auto; background: #fff; }
kbd { padding: 0 0.35rem; border: 1px solid var(--soft); border-radius: 3px; font: inherit; }
@media (max-width: 60rem) { .beside { grid-template-columns: minmax(0, 1fr); } .beside form { position: static; } }
@media (max-width: 60rem) { .beside form { order: -1; max-height: none; } }
"""
)

# Each change is sent at once, one after another; what is not saved is tried again, and no key leaves the page before.
SCRIPT = r"""
"use strict";
const find = (id) => document.getElementById(id);
const form = find("form"), points = find("points"), remark = find("remark"), state = find("state");
const most = Number(form.dataset.most), number = Number(form.dataset.number), keys = find("keys");
let kept = { points: points.value, remark: remark.value };
let sending = null, waiting = null, conflict = null;

const isThousand = () => /^[1-9]\d{0,2},\d{3}$/.test(points.value.trim());  // or a decimal comma: nobody can tell
const isNumber = () => !isThousand() && /^(\d{1,5}([.,]\d{1,4})?)?$/.test(points.value.trim())
  && Number(points.value.replace(",", ".")) <= most;
const typed = () => ({ points: points.value, remark: remark.value });
const toSend = () => ({ points: isNumber() ? points.value : kept.points, remark: remark.value });
const same = (one, other) => one.points === other.points && one.remark === other.remark;
const isSaved = () => same(typed(), kept);
const say = (text) => { if (state.textContent !== text) state.textContent = text; };
const wrong = () => isThousand()
  ? `“${points.value}” may be a decimal or a thousand: write it without the comma. These points are not saved.`
  : `“${points.value}” is not between 0 and ${most}: these points are not saved.`;

async function send(now) {
  const answer = await fetch("save", {
    method: "POST", headers: { "Content-Type": "application/json" }, keepalive: true,
    body: JSON.stringify({ number, question: form.dataset.question, was: kept, now }),
  });
  const told = await answer.json();
  if (answer.ok) { kept = now; return true; }
  if (told.kept) showConflict(told.kept); else say(`Not saved: ${told.error}`);
  return false;
}

async function sendAll() {
  try {
    while (!conflict && !same(toSend(), kept)) {
      say("Saving …");
      if (!await send(toSend())) return;
    }
    if (!conflict) say(isNumber() ? "Saved." : wrong());
  } catch {
    say("Not saved: the program does not answer. Start it again, and copy your remark to the new page. Trying again …");
    clearTimeout(waiting);
    waiting = setTimeout(save, 2000);
  }
}

async function save() {
  points.setAttribute("aria-invalid", String(!isNumber()));
  while (sending) await sending;
  sending = sendAll();
  await sending;
  sending = null;
}

function showConflict(theirs) {
  conflict = theirs;
  const given = theirs.points === "" ? "no points" : `${theirs.points} points`;
  say(`Not saved: meanwhile another window has given ${given}, with the remark “${theirs.remark}”.`);
  find("conflict").hidden = false;
}

function settle(take) {
  kept = conflict;
  if (take) { points.value = kept.points; remark.value = kept.remark; }
  conflict = null;
  find("conflict").hidden = true;
  points.focus();
  save();
}

async function go(link) {
  if (!link) return;
  await save();
  if (isSaved()) location.assign(link.href);
}

function typeDigit(sign) {
  const longer = points.value + sign;
  const fits = /^\d{0,5}([.,]\d{0,4})?$/.test(longer) && Number(longer.replace(",", ".")) <= most;
  points.value = fits ? longer : sign;
  save();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  const { key, target } = event;
  if (key === "Escape" && (target === remark || target === points)) { find("title").focus(); return; }
  if (target === points && key === "Enter") { event.preventDefault(); go(find("next")); return; }
  if (!keys.checked || target === remark || (target === points && /^[\d.,]$|^Backspace$/.test(key))) return;
  const does = {
    j: () => go(find("next")), k: () => go(find("previous")), r: () => remark.focus(), p: () => points.focus(),
    Backspace: () => { points.value = points.value.slice(0, -1); save(); },
  }[key] || (/^[\d.,]$/.test(key) ? () => typeDigit(key) : null);
  if (does) { event.preventDefault(); does(); }
});
for (const field of [points, remark]) field.addEventListener("input", save);
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => { event.preventDefault(); go(link); });
}
form.addEventListener("submit", (event) => event.preventDefault());
find("take").addEventListener("click", () => settle(true));
find("mine").addEventListener("click", () => settle(false));
keys.checked = localStorage.getItem("keys") !== "off";
keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
addEventListener("beforeunload", (event) => { if (!isSaved()) event.preventDefault(); });
"""

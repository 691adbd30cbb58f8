// The four operations: what is asked, what counts as reached, and what is told then. No DOM.
(() => {
  const { operating } = clearformer;
  const { nameOf, percent, MOST_PARTS } = operating;
  const times = (x) => `${x.toFixed(1)} times`;
  const ONE_HEAD = { dearer: 50 }; // bits that one changed head is to cost

  const TASKS = {
    find: {
      title: "1 Find the head",
      text: (texts) => [texts.find],
      lead: ({ she, he }) => `After “because” the model gives “she” ${percent(she, 1)} and “he” ${percent(he, 1)}: it has read “Emma”, four tokens back. Some head has brought the name to the end.`,
      ask: "Which head does it need for that?",
      options: [["1,0", "2.1: its “she” looks at Emma (chapter 3)"], ["1,1", "2.2: its “because” looks at Emma"],
        ["2,0", "3.1: its “because” looks at Emma, too"], ["none", "no single one"]],
      goal: "Switch off one head, so that “she” is less than twice as likely as “he”.",
      reached: ({ heads, after }) => only(heads, "off") !== null && after.she < 2 * after.he,
      right: "2,0",
      told: ({ before, after }) => `without 3.1 “she” is ${times(after.she / after.he)} as likely as “he”, with it ${times(before.she / before.he)}.`,
      lesson: "2.1 and 2.2 look at Emma as well, and the model does without them. 2.1 looks from “she”: too late, when “she” is already there. Where a head looks does not tell what it is needed for; an operation does.",
    },
    paint: {
      title: "2 Paint a row",
      text: (texts) => [texts.paint],
      lead: ({ she, he }) => `It is Emma who goes home, and the model errs: “he” ${percent(he, 1)}, “she” ${percent(she, 1)}. In head 3.1 “because” looks at John. You may paint where it looks.`,
      ask: "If “because” looks at Emma alone there, what will the model say?",
      options: [["he", "still “he”"], ["barely", "“she”, but less than twice as likely"], ["twice", "“she”, more than twice as likely as “he”"]],
      goal: "Paint one row of one head, so that “she” becomes likelier than “he”. Choose a head, then the token that looks, then press the tokens that it is to look at.",
      reached: ({ heads, rows, after }) => {
        const head = only(heads, "painted");
        return head !== null && Object.keys(rows[head] || {}).length === 1 && after.she > after.he;
      },
      right: "twice",
      told: ({ after, looked }) => `“she” ${percent(after.she, 1)}, “he” ${percent(after.he, 1)}. `
        + `With all of the weight on Emma “she” is ${times(looked.she / looked.he)} as likely as “he”.`,
      lesson: "One row of one head had misled the model. 3.1 brings a name to the place where the next word is guessed, and here it had brought the wrong one.",
    },
    transplant: {
      title: "3 Transplant a column",
      text: (texts) => [texts.find, texts.donor],
      lead: ({ she, he }) => `After Emma the model gives “she” ${percent(she, 1)} and “he” ${percent(he, 1)}. The text with John is the donor: each of its tokens has a column of 256 numbers, at first the embedding, then what each layer has made of it. You may take one such column and put it in the same place here.`,
      ask: "How late is it still enough to exchange the column of the name?",
      options: [["0", "as the embedding only"], ["1", "after layer 1"], ["2", "after layer 2"], ["3", "after layer 3"], ["4", "after layer 4, the last"]],
      goal: "Find in each of the five depths a column that turns “she” into “he”.",
      right: "2",
      told: (last) => `Emma’s column turns the answer up to layer ${last}, and no longer behind it.`,
      lesson: "Up to layer 2 the name is in its own column. After layer 3 it is in that of “because”, and what becomes of the other column does not matter any more. Layer 3 has carried it over, and there sits head 3.1.",
    },
    page: {
      title: "4 A page of a novel",
      text: (texts) => [texts.page],
      lead: ({ bits }) => `Two sentences from the end of Emma, which the model has not learned from. They cost it ${bits.toFixed(1)} bits in all; the better it guesses each next token, the fewer.`,
      ask: "Which of these heads costs most when it is lost?",
      options: [["1,0", "2.1, pronouns look at names"], ["2,0", "3.1, names"], ["2,1", "3.2, the token before"], ["3,1", "4.2, punctuation"], ["0,0", "1.1, the last 8 tokens"]],
      goal: `Switch off each head in turn, and see. Then change one head alone so that the page costs over ${ONE_HEAD.dearer} bits more.`,
      reached: ({ heads, before, after }) => Object.keys(heads).length === 1 && after.bits - before.bits > ONE_HEAD.dearer,
      right: "0,0",
      told: ({ heads, before, after }) => `with ${nameOf(Object.keys(heads)[0])} so changed the page costs ${(after.bits - before.bits).toFixed(1)} bits more.`,
      lesson: "A head that says nothing is missed. One that looks at the wrong place does more harm: it misleads all layers behind it.",
    },
  };
  const STEPS = Object.keys(TASKS);

  // The one head that is changed, if it is changed in this way.
  function only(heads, kind) {
    const changed = Object.entries(heads);
    return changed.length === 1 && changed[0][1] === kind ? changed[0][0] : null;
  }

  const FRESH = { step: "find", guesses: {}, solved: {}, heads: { find: {}, paint: {}, page: {} }, rows: { find: {}, paint: {} } };
  const isMap = (it) => it !== null && typeof it === "object" && !Array.isArray(it);
  const every = (it, good) => isMap(it) && Object.entries(it).every(([key, value]) => good(key, value));
  const isHead = (key) => /^[0-3],[0-3]$/.test(key);
  const isParts = (it) => Array.isArray(it) && it.length <= 32 && it.every((part) => Number.isInteger(part) && part >= 0 && part <= MOST_PARTS);
  const areKinds = (it) => every(it, (head, kind) => isHead(head) && kind !== "model" && Object.hasOwn(operating.WORDS, kind));
  const areRows = (it) => every(it, (head, rows) => isHead(head) && every(rows, (n, parts) => /^\d{1,2}$/.test(n) && isParts(parts)));

  // Is it what this page has written?
  function isGood(kept) {
    return STEPS.includes(kept.step)
      && every(kept.guesses, (step, guess) => STEPS.includes(step) && TASKS[step].options.some(([value]) => value === guess))
      && every(kept.solved, (step, solved) => STEPS.includes(step) && typeof solved === "boolean")
      && isMap(kept.heads) && Object.keys(FRESH.heads).every((step) => areKinds(kept.heads[step]))
      && isMap(kept.rows) && Object.keys(FRESH.rows).every((step) => areRows(kept.rows[step]));
  }

  Object.assign(operating, { TASKS, STEPS, FRESH, isGood, only });
})();

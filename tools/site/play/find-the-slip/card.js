// How a card looks: the code with a button for each line, the two results, and what should stand in the wrong lines.
(() => {
  const { html, tint, slip } = globalThis.clearformer;

  // Text in which only `code` is more than text.
  const told = (text) => text.split(/`([^`\n]+)`/).map((part, i) => (i % 2 ? html("code", {}, part) : part));
  const indentOf = (line) => line.length - line.trimStart().length;
  const codeLine = (line) => html("code", { class: "slip-line", style: `--indent: ${indentOf(line)}` }, line.trim());

  // The lines as buttons, of which one is in the order of Tab; the arrows go to the others.
  const lines = (card, chosen) => {
    const buttons = card.code.map((line, i) => html("button", {
      type: "button", "data-control": "line", "data-option": i, tabindex: i ? -1 : 0, click: () => chosen(i),
    }, html("span", { class: "slip-number" }, `${i + 1}`), " ", codeLine(line), html("span", { class: "slip-mark" })));
    const go = (i) => {
      buttons.forEach((button, k) => button.setAttribute("tabindex", k === i ? 0 : -1));
      buttons[i].focus();
    };
    const moved = (event) => {
      const at = buttons.indexOf(event.target.closest("button"));
      const last = buttons.length - 1;
      const to = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      go(to);
    };
    const list = html("ol", { class: "slip-code", "aria-label": "Lines of the code: the arrow keys go from one to the next", keydown: moved },
      ...buttons.map((button) => html("li", {}, button)));
    const mark = (i, kind, words) => {
      buttons[i].classList.add(kind);
      buttons[i].querySelector(".slip-mark").textContent = words;
    };
    return { list, buttons, mark, close: () => buttons.forEach((button) => button.setAttribute("aria-disabled", true)) };
  };

  const largest = (...maps) => Math.max(...maps.flat(2).map((x) => Math.abs(Number(x))).filter(Number.isFinite), 1e-9);
  const split = (shown) => (Array.isArray(shown) ? shown.map((row) => row.split(" ")) : []);
  const differing = (map, beside) => map.flatMap((row, i) => row.map((text, j) => beside[i]?.[j] !== text));

  // One result: a table of numbers, of which those that differ from the other are marked, or a text.
  const result = (caption, shown, other, isMarked) => {
    if (typeof shown === "string") return html("div", { class: "slip-result" }, html("p", {}, `${caption} `, html("code", {}, shown)));
    const [map, beside] = [split(shown), split(other)];
    const most = largest(map, beside);
    const cell = (text, i, j) => html("td", { style: tint(Math.abs(Number(text)) / most, Number(text) < 0 ? "warm" : "accent") },
      isMarked && beside[i]?.[j] !== text ? html("strong", {}, text, html("span", { class: "slip-hidden" }, " differs")) : text);
    const columns = map[0].length;
    return html("div", { class: "slip-result", style: `flex-basis: ${2.8 * columns}rem` },
      html("table", { style: `max-width: ${4.5 * columns}rem` }, html("caption", {}, caption),
        html("tbody", {}, ...map.map((row, i) => html("tr", {}, ...row.map((text, j) => cell(text, i, j)))))));
  };

  // On the same arguments, what the code gives and what it should give.
  const results = (card) => {
    const apart = differing(split(card.right), split(card.wrong));
    const isMarked = Array.isArray(card.wrong) && apart.includes(false);
    const which = isMarked ? " Underlined numbers differ." : apart.length > 1 && Array.isArray(card.wrong) ? " Every number differs." : "";
    const where = `${card.given}${card.part ? `; shown: ${card.part}` : ""}.${which}`;
    return html("div", { class: "slip-results" }, html("p", {}, where), html("div", { class: "slip-pair" },
      result("This code gives:", card.wrong, card.right, isMarked), result("Right is:", card.right, card.wrong, isMarked)));
  };

  // Each of the wrong lines beside what should be there.
  const mended = (card) => card.changes.map(([first, count, good]) => {
    const range = count > 1 ? `Lines ${first + 1} and ${first + count}` : `Line ${first + 1}`;
    const words = good.length ? `${range} should be:` : `${range} should not be there.`;
    return html("div", {}, html("p", {}, words), good.length ? html("ol", { class: "slip-code slip-good" },
      ...good.map((line) => html("li", {}, codeLine(line)))) : null);
  });

  // Where to read on.
  const links = (card, root) => {
    const { slug, number, title } = card.chapter;
    const link = (path, words) => html("a", { href: new URL(path, root).href }, words);
    return html("p", {}, "Read ", link(card.read[1], card.read[0]), `; write it yourself: question ${card.question.number} of `,
      link(`chapters/${slug}.html#practise`, `the exercise of chapter ${number}, ${title}`), ".");
  };

  globalThis.clearformer.slip = { ...slip, told, lines, results, mended, links };
})();

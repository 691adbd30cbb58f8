// What the live transformer shows: chips, strips, maps and bars, each drawn from plain arrays.
(function (live) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const SEEN = { " ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍" };
  const CELL = 14, LETTER = 6.7, LONGEST = 9; // of the map, in the units of its drawing; letters of a label
  const MOST = 20; // tokens that a map shows
  const LIKELIEST = 10;

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // Bring a part into view, and the keyboard to it where it, or something in it, takes the focus.
  function goTo(part) {
    part.scrollIntoView({ block: "center" });
    (part.querySelector('[tabindex="0"]') || part).focus({ preventScroll: true });
  }

  // A token's text with its spaces, line ends and control characters to be seen.
  function spell(text) {
    return Array.from(text, (character) => {
      const code = character.codePointAt(0);
      if (SEEN[character]) return SEEN[character];
      return code < 32 || (code > 126 && code < 161) ? "U+" + code.toString(16).toUpperCase().padStart(4, "0") : character;
    }).join("");
  }

  function duration(milliseconds) {
    return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
  }

  function percent(p) {
    return p > 0 && p < 0.0005 ? "< 0.1 %" : (100 * p).toFixed(1) + " %";
  }

  // Arrow keys move among the buttons of a toolbar, `across` of them in a row; one of them is a Tab stop.
  function rove(toolbar, across) {
    toolbar.addEventListener("keydown", (event) => {
      const buttons = Array.from(toolbar.querySelectorAll("button")), at = buttons.indexOf(event.target);
      const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across(), ArrowDown: across(), Home: -at, End: buttons.length - 1 - at };
      const next = buttons[at + moves[event.key]];
      if (at < 0 || !next) return;
      event.preventDefault();
      next.focus();
      next.click();
    });
  }

  function stopAt(toolbar, chosen) {
    Array.from(toolbar.querySelectorAll("button")).forEach((button, i) => {
      button.tabIndex = i === chosen ? 0 : -1;
      button.setAttribute("aria-pressed", String(i === chosen));
    });
  }

  class Chips {
    constructor(toolbar, choose) {
      this.toolbar = toolbar;
      this.pieces = [];
      rove(toolbar, () => 1);
      toolbar.addEventListener("click", (event) => {
        const at = Array.from(toolbar.children).indexOf(event.target.closest("button"));
        if (at >= 0) choose(at);
      });
    }

    // One chip for each token; those that stay the same are kept, with the focus that one of them may have.
    show(ids, pieces, chosen, weights) {
      const { toolbar } = this;
      while (toolbar.children.length > pieces.length) toolbar.lastChild.remove();
      pieces.forEach((piece, n) => {
        const chip = toolbar.children[n] || toolbar.appendChild(make("button", { type: "button" }));
        if (this.pieces[n] !== piece || !chip.textContent) {
          chip.textContent = spell(piece);
          chip.setAttribute("aria-label", `token ${n + 1}: ${spell(piece)}, id ${ids[n]}`);
          chip.title = `id ${ids[n]}`;
        }
        chip.style.setProperty("--w", n < weights.length ? weights[n].toFixed(3) : 0);
        chip.classList.toggle("ahead", n > chosen);
      });
      this.pieces = pieces;
      stopAt(toolbar, chosen);
      const chip = toolbar.children[chosen];
      if (chip) {
        const above = chip.offsetTop - toolbar.offsetTop;
        if (above < toolbar.scrollTop || above + chip.offsetHeight > toolbar.scrollTop + toolbar.clientHeight) {
          toolbar.scrollTop = above - toolbar.clientHeight / 2;
        }
      }
    }
  }

  // Rows of numbers as strips: above zero in one colour, below in another, each row by its own largest number.
  function showStrips(place, rows, names, colours) {
    if (place.children.length !== 2 * rows.length) {
      place.replaceChildren(...rows.flatMap((row, i) => [make("span", {}, names[i]), make("canvas", { role: "img" })]));
    }
    rows.forEach((row, i) => {
      const canvas = place.children[2 * i + 1], largest = row.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9);
      canvas.width = row.length;
      canvas.height = 1;
      const pen = canvas.getContext("2d");
      row.forEach((x, d) => {
        pen.globalAlpha = Math.abs(x) / largest;
        pen.fillStyle = x < 0 ? colours.below : colours.above;
        pen.fillRect(d, 0, 1, 1);
      });
      const least = Math.min(...row), most = Math.max(...row);
      canvas.setAttribute("aria-label", `${names[i]}: ${row.length} numbers from ${least.toFixed(2)} to ${most.toFixed(2)}`);
      canvas.onpointermove = (event) => {
        const d = Math.min(row.length - 1, Math.floor(event.offsetX / canvas.clientWidth * row.length));
        canvas.title = `number ${d + 1}: ${row[d].toFixed(3)}`;
      };
    });
  }

  // The tokens that a map has room for: the first, and the last ones up to `end`.
  function mapped(count, end) {
    if (count <= MOST) return Array.from({ length: count }, (_, n) => n);
    const last = Math.min(count - 1, Math.max(end, MOST - 1));
    return [0].concat(Array.from({ length: MOST - 1 }, (_, i) => last - MOST + 2 + i));
  }

  // One small map for each head; weight(layer, head, n, s) is how much n looks at s.
  class Heads {
    constructor(toolbar, choose) {
      this.toolbar = toolbar;
      this.across = 1;
      rove(toolbar, () => this.across);
      toolbar.addEventListener("click", (event) => {
        const at = Array.from(toolbar.children).indexOf(event.target.closest("button"));
        if (at >= 0) choose(Math.floor(at / this.across), at % this.across);
      });
    }

    show(layers, heads, tokens, weight, chosen, colour, names) {
      const { toolbar } = this;
      if (toolbar.children.length !== layers * heads || this.across !== heads) {
        this.across = heads;
        toolbar.style.gridTemplateColumns = `repeat(${heads}, 30px)`;
        toolbar.replaceChildren(...Array.from({ length: layers * heads }, (_, i) => make("button", {
          type: "button", "aria-label": `layer ${Math.floor(i / heads) + 1}, head ${i % heads + 1}`,
        }, make("canvas", { "aria-hidden": "true" }))));
      }
      Array.from(toolbar.children).forEach((button, i) => {
        const m = Math.floor(i / heads), h = i % heads, job = names[m]?.[h];
        const label = `layer ${m + 1}, head ${h + 1}${job ? `: ${job.name}` : ""}`;
        if (button.title !== label) button.title = label;
        button.setAttribute("aria-label", label);
        drawSmall(button.firstChild, tokens, (n, s) => weight(Math.floor(i / heads), i % heads, n, s), colour);
      });
      stopAt(toolbar, chosen[0] * heads + chosen[1]);
    }
  }

  function drawSmall(canvas, tokens, weight, colour) {
    canvas.width = canvas.height = Math.max(4, tokens.length);
    const pen = canvas.getContext("2d");
    pen.fillStyle = colour;
    tokens.forEach((n, column) => tokens.slice(0, column + 1).forEach((s, row) => {
      pen.globalAlpha = shade(weight(n, s));
      pen.fillRect(column, row, 1, 1);
    }));
  }

  function shade(weight) {
    return Math.sqrt(weight); // so that small weights can be seen
  }

  // The map of one head: a column for each token that looks, a row for each that is looked at, a value for each cell.
  class HeadMap {
    constructor(place, told, choose) {
      Object.assign(this, { place, told, choose, tokens: [], column: 0, row: 0 });
      place.addEventListener("pointermove", (event) => this.point(event));
      place.addEventListener("click", (event) => {
        if (this.point(event)) choose(this.tokens[this.column]);
      });
      place.addEventListener("keydown", (event) => this.key(event));
      place.addEventListener("focus", () => this.told.setAttribute("aria-live", "polite"));
      place.addEventListener("blur", () => this.told.setAttribute("aria-live", "off")); // else every token is read out
    }

    show(name, pieces, tokens, weight, chosen) {
      Object.assign(this, { pieces, tokens, weight });
      this.column = Math.max(0, tokens.indexOf(chosen));
      const looks = tokens.slice(0, this.column + 1).map((s) => weight(tokens[this.column], s));
      this.row = looks.indexOf(Math.max(...looks));
      const labels = tokens.map((n) => cutShort(spell(pieces[n])));
      const start = this.start = 12 + LETTER * Math.max(...labels.map((label) => Array.from(label).length));
      const side = CELL * tokens.length;
      const parts = [`<rect class="ground" x="${start}" y="${start}" width="${side}" height="${side}"/>`];
      tokens.forEach((n, column) => {
        const at = start + CELL * column, label = escape(labels[column]);
        parts.push(`<text x="${start - 4}" y="${at + CELL - 4}" text-anchor="end">${label}</text>`);
        parts.push(`<text transform="translate(${at + CELL - 4} ${start - 4}) rotate(-90)">${label}</text>`);
        tokens.slice(0, column + 1).forEach((s, row) => parts.push(
          `<rect class="cell" x="${at}" y="${start + CELL * row}" width="${CELL}" height="${CELL}" fill-opacity="${shade(weight(n, s)).toFixed(3)}"/>`));
      });
      const outline = (kind) => `<rect class="${kind}" visibility="hidden"/>`;
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", `0 0 ${start + CELL * MOST} ${start + side}`);
      svg.setAttribute("aria-hidden", "true");
      svg.innerHTML = parts.join("") + outline("column") + outline("here");
      this.place.replaceChildren(svg);
      this.place.setAttribute("aria-label", `Attention of ${name}. Arrow keys move from cell to cell, Enter chooses the token.`);
      this.frame("column", this.column, 0, 1, this.column + 1);
      this.go(this.column, this.row);
    }

    frame(kind, column, row, width, height) {
      const box = this.place.querySelector("." + kind);
      const place = { x: this.start + CELL * column, y: this.start + CELL * row, width: CELL * width, height: CELL * height };
      for (const [key, value] of Object.entries(place)) box.setAttribute(key, value);
      box.setAttribute("visibility", "visible");
    }

    // Move to a cell and tell its value.
    go(column, row) {
      if (!this.tokens.length) return;
      this.column = Math.min(Math.max(column, 0), this.tokens.length - 1);
      this.row = Math.min(Math.max(row, 0), this.column);
      this.frame("here", this.column, this.row, 1, 1);
      const n = this.tokens[this.column], s = this.tokens[this.row], quoted = (i) => `“${spell(this.pieces[i])}”`;
      this.told.textContent = `${quoted(n)} looks at ${n === s ? "itself" : quoted(s)} with weight ${this.weight(n, s).toFixed(3)}.`;
    }

    point(event) {
      const svg = this.place.firstElementChild;
      if (!svg) return false;
      const box = svg.getBoundingClientRect(), unit = svg.viewBox.baseVal.width / box.width;
      const column = Math.floor(((event.clientX - box.left) * unit - this.start) / CELL);
      const row = Math.floor(((event.clientY - box.top) * unit - this.start) / CELL);
      if (column < 0 || row < 0 || column >= this.tokens.length || row > column) return false;
      this.go(column, row);
      return true;
    }

    key(event) {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.key === "Enter") this.choose(this.tokens[this.column]);
      else if (moves[event.key]) this.go(this.column + moves[event.key][0], this.row + moves[event.key][1]);
      else return;
      event.preventDefault();
    }
  }

  function cutShort(text) {
    const characters = Array.from(text);
    return characters.length > LONGEST ? characters.slice(0, LONGEST - 1).join("") + "…" : text;
  }

  function escape(text) {
    return text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]);
  }

  // The likeliest next tokens. What the cuts remove is hatched, and called cut beside its share before.
  class Bars {
    constructor(list, take) {
      this.list = list;
      list.addEventListener("click", (event) => {
        const bar = event.target.closest("button");
        if (bar) take(Number(bar.dataset.id));
      });
    }

    show({ before, after, order }, piece, came) {
      const shown = order.slice(0, LIKELIEST);
      while (this.list.children.length > shown.length) this.list.lastChild.remove();
      shown.forEach((id, i) => {
        const item = this.list.children[i] || this.list.appendChild(emptyBar()), bar = item.firstChild;
        const cut = after[id] === 0, [token, track, value] = bar.children;
        bar.dataset.id = id;
        bar.className = (cut ? "cut" : "") + (id === came ? " came" : "");
        token.textContent = spell(piece(id)) + (id === came ? " ←" : "");
        track.children[0].style.width = 100 * before[id] + "%";
        track.children[1].style.width = 100 * after[id] + "%";
        track.children[0].hidden = !cut || before[id] === 0;
        track.children[1].hidden = cut;
        value.textContent = cut ? `cut, ${percent(before[id])}` : percent(after[id]);
        bar.title = cut ? `cut; ${percent(before[id])} before` : "write this token";
      });
      const longest = Math.max(...shown.map((id) => Array.from(spell(piece(id))).length));
      this.list.style.setProperty("--letters", Math.min(Math.max(longest + 2, 4), 12));
      return shown;
    }
  }

  function emptyBar() {
    const track = make("span", { class: "track" }, make("span", { class: "before" }), make("span", { class: "kept" }));
    const bar = make("button", { type: "button" }, make("span", { class: "token" }), track, make("span", { class: "value" }));
    return make("li", {}, bar);
  }

  Object.assign(live, { make, goTo, Chips, Heads, HeadMap, Bars, showStrips, mapped, spell, percent, duration });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));

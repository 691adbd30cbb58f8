// A chapter on a projector (?present) and on a sheet to hand out (?handout): the same page, and what is shown of it.
// Nothing is moved, so that what can be touched on the page can be touched here: blocks are shown and hidden.
(() => {
  const make = window.CLEARFORMER_MAKE;
  const article = document.querySelector("article.bd-article");
  const SHOWN = ".math, figure, .cell, .admonition, .quiz-question, .pst-scrollable-table-container, .explorable, live-transformer, table, ul, ol, pre, .highlight, .sd-container-fluid";
  const isShown = (block) => block.matches(SHOWN) || block.querySelector("img, svg.figure, .math.notranslate:not(span)") !== null;
  const isHeading = (block) => /^H[1-4]$/.test(block.tagName);

  const FEW = 240; // letters
  const comesAfter = (block, other) => Boolean(other.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING);

  // A cell without output shows nothing but code.
  const isOnlyCode = (block) => block.matches(".cell") && !block.querySelector(".cell_output");
  const isEmpty = (block) => !block.textContent.trim() && !block.querySelector("img, svg, .explorable");

  // A part for each heading: the heading, what is shown under it, and what the teacher says.
  const parts = () => {
    const found = [];
    for (const heading of article.querySelectorAll("h1, h2, h3")) {
      const section = heading.parentElement;
      const blocks = [...section.children].filter((block) => block !== heading && block.tagName !== "SECTION" && !isEmpty(block));
      const leads = (block) => block.tagName === "P"
        && (block.nextElementSibling?.matches(".quiz-question, details.quiz") || (block.nextElementSibling?.matches("ul, ol") && block.textContent.length <= FEW));
      const shown = blocks.filter((block) => !isHeading(block) && (isShown(block) || leads(block)) && !block.matches(".chapter-place"));
      const said = blocks.filter((block) => !shown.includes(block) && block.tagName === "P" && !block.matches(".chapter-place, .chapter-end"));
      // A part begins with its first words where they are few, and a part that only talks with them in any case.
      const isBare = !shown.some((block) => !isOnlyCode(block));
      if (said.length && (isBare || said[0].textContent.length <= FEW)) shown.splice(shown.findIndex((block) => comesAfter(block, said[0])) >>> 0, 0, said[0]);
      found.push({ heading, section, shown, said });
    }
    return found;
  };

  // The blocks of a part, in screens: as many as fit, in their order; those after a text go with it.
  const screensOf = (part, whole) => {
    const screens = [], room = whole - part.heading.offsetHeight;
    let height = 0;
    for (const block of part.shown) {
      const own = isOnlyCode(block) ? 0 : block.offsetHeight + 28;
      if (!screens.length || (own && height && height + own > room)) {
        screens.push([]);
        height = 0;
      }
      screens.at(-1).push(block);
      height += own;
    }
    return screens.length ? screens : [[]];
  };

  class Talk {
    constructor() {
      document.body.classList.add("presenting");
      this.parts = parts();
      this.at = 0;
      this.bar = this.makeBar();
      document.body.append(this.notes, this.bar);
      this.layOut();
      const start = location.hash && article.querySelector(`#${CSS.escape(decodeURIComponent(location.hash.slice(1)))}`);
      this.at = Math.max(0, this.screens.findIndex(({ part }) => start && (part.section === start || part.section.contains(start) && part.section.querySelector(":scope > section") === null)));
      this.show();
      addEventListener("resize", () => this.relay());
      addEventListener("keydown", (event) => this.key(event), true); // before the page, for which Escape closes its contents
    }

    makeBar() {
      const button = (text, label, action) => {
        const made = make("button", { type: "button", title: label, "aria-label": /\w/.test(text) ? `${text}: ${label}` : label }, text);
        made.addEventListener("click", action);
        return made;
      };
      this.place = make("span", { role: "status" });
      this.notes = make("aside", { class: "talk-notes", "aria-label": "What to say", tabindex: "0" });
      this.notes.hidden = true;
      return make("nav", { class: "talk-bar", "aria-label": "Slides" },
        button("←", "Back (left arrow)", () => this.go(-1)), this.place, button("→", "On (right arrow)", () => this.go(1)),
        button("Code", "show or hide it (c)", () => this.code()),
        button("Notes", "what to say, shown or hidden (n)", () => this.note()),
        button("Window", "what to say, in one of its own (w)", () => this.window()),
        button("Full screen", "on or off (f)", () => this.full()),
        button("Leave", "back to the page (Escape)", () => this.leave()));
    }

    // All blocks stand on the page while they are measured.
    layOut() {
      const { body } = document;
      body.classList.add("measuring");
      const room = innerHeight - 150;
      this.screens = this.parts.flatMap((part) => screensOf(part, room).map((blocks, i, all) => ({ part, blocks, i, n: all.length })));
      body.classList.remove("measuring");
    }

    relay() {
      const { part } = this.screens[this.at];
      this.layOut();
      this.at = this.screens.findIndex((screen) => screen.part === part);
      this.show();
    }

    show() {
      const { part, blocks, i, n } = this.screens[this.at];
      article.querySelectorAll(".talk-on").forEach((block) => block.classList.remove("talk-on"));
      for (let node = part.heading; node !== article; node = node.parentElement) node.classList.add("talk-on");
      blocks.forEach((block) => block.classList.add("talk-on"));
      const more = n > 1 ? ` (${i + 1} of ${n})` : "";
      this.place.textContent = `${this.at + 1} / ${this.screens.length}${more}`;
      this.notes.replaceChildren(...part.said.map((block) => block.cloneNode(true)));
      if (this.other && !this.other.closed) this.fill(this.other.document);
      const id = part.section.id ? `#${part.section.id}` : "";
      try {
        history.replaceState(null, "", `${location.pathname}?present${id}`);
      } catch { /* a file in some browsers */ }
      scrollTo(0, 0);
    }

    go(step) {
      const to = Math.min(Math.max(this.at + step, 0), this.screens.length - 1);
      if (to === this.at) return;
      this.at = to;
      this.show();
    }

    code() {
      document.body.classList.toggle("talk-code");
    }

    note() {
      this.notes.hidden = !this.notes.hidden;
    }

    window() {
      this.other = window.open("", "clearformer-notes", "width=700,height=800");
      if (this.other) this.fill(this.other.document);
      else this.notes.hidden = false; // the browser opens no windows
    }

    fill(other) {
      const { part } = this.screens[this.at];
      other.title = "What to say";
      other.body.style.cssText = "margin: 2rem; font: 1.4rem/1.5 sans-serif";
      const head = other.createElement("h1");
      head.textContent = titleOf(part.heading);
      other.body.replaceChildren(head, ...part.said.map((block) => other.importNode(block, true)));
    }

    full() {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen?.();
    }

    leave() {
      const { section } = this.screens[this.at].part;
      const page = `${location.pathname}${section.id ? `#${section.id}` : ""}`;
      setTimeout(() => location.assign(page)); // after the key: Escape stops what is loading
    }

    // Arrows belong to whatever has the focus and uses them.
    key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
      if (event.target.closest?.("input, textarea, select, [role=application], [role=toolbar], live-transformer")) return;
      const keys = {
        ArrowRight: () => this.go(1), PageDown: () => this.go(1), ArrowLeft: () => this.go(-1), PageUp: () => this.go(-1),
        Home: () => this.go(-Infinity), End: () => this.go(Infinity), Escape: () => this.leave(),
        c: () => this.code(), n: () => this.note(), w: () => this.window(), f: () => this.full(),
      };
      if (event.key === " " && !event.target.closest?.("button, summary, a")) keys[" "] = () => this.go(event.shiftKey ? -1 : 1);
      const action = keys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    }
  }

  const titleOf = (heading) => [...heading.childNodes].filter((node) => !node.classList?.contains("headerlink")).map((node) => node.textContent).join("").trim();

  // A sheet: headings, formulas, figures, tables and questions, and room to write; the answers stand at its end.
  const handOut = () => {
    document.body.classList.add("handing-out");
    const all = parts();
    for (const { heading, section, shown } of all) {
      heading.classList.add("talk-on");
      shown.filter((block) => !isOnlyCode(block)).forEach((block) => block.classList.add("talk-on"));
      for (let node = section; node !== article; node = node.parentElement) node.classList.add("talk-on");
      if (heading.tagName === "H2" && !section.querySelector(".quiz-question")) heading.after(make("p", { class: "talk-room talk-on", "aria-hidden": "true" }));
    }
    const answers = [...article.querySelectorAll(".quiz-question")].map((question, i) => {
      const right = question.querySelector("details[data-answer=right] summary");
      return make("li", {}, right ? right.textContent.trim() : `question ${i + 1}`);
    });
    const print = make("button", { type: "button", class: "reader-button" }, "Print this sheet");
    print.addEventListener("click", () => window.print());
    article.querySelector("h1").after(make("p", { class: "talk-on talk-print" }, print));
    if (answers.length) article.append(make("section", { class: "talk-answers talk-on" }, make("p", {}, "Answers"), make("ol", {}, ...answers)));
  };

  if (!article) return;
  if (new URLSearchParams(location.search).has("handout")) handOut();
  else new Talk();
})();

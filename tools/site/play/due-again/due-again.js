// The questions that a reader answered wrong, on the days on which they are due: reader.js keeps them in this browser.
(() => {
  const { Play, html } = clearformer;
  const day = () => new Date().toISOString().slice(0, 10);

  class DueAgain extends Play {
    build(live) {
      this.list = html("ol", { class: "due" });
      this.later = html("p", {});
      live.append(this.status, this.list, this.later);
    }

    // What another page, or a stranger, has written counts as far as it has the right form.
    get questions() {
      try {
        const { due } = JSON.parse(localStorage.getItem("clearformer") || "{}");
        return Object.values(due).filter((it) => ["page", "question", "title", "text", "on"].every((name) => typeof it?.[name] === "string")
          && /^chapters\/[\w/-]+$/.test(it.page)).sort((a, b) => (a.on < b.on ? -1 : 1));
      } catch {
        return [];
      }
    }

    update() {
      const all = this.questions, now = all.filter((it) => it.on <= day()), next = all.find((it) => it.on > day());
      const up = document.documentElement.dataset.content_root || "./";
      this.list.replaceChildren(...now.map(({ page, question, title, text }) =>
        html("li", {}, html("a", { href: `${up}${page}.html?again=${encodeURIComponent(question)}` }, text), ` (${title})`)));
      this.list.hidden = !now.length;
      this.later.textContent = next ? `${all.length - now.length} more later, the next on ${next.on}.` : "";
      this.say(now.length ? `${now.length} question${now.length > 1 ? "s" : ""} due today.`
        : all.length ? "Nothing is due today." : "Nothing is due: no question in this browser has been answered wrong, or all have come back twice.");
    }
  }
  customElements.define("due-again", DueAgain);
})();

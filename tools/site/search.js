// Searches the sections of the book: on a page of its own, and below the field that Ctrl-K opens on every page.
// The index (tools/extension/search.py) comes with the first key, as a script, so that a folder on a disk can be searched.
(() => {
  const make = window.CLEARFORMER_MAKE; // reader.js has it, and stands on every page before this
  const FIRST = 8; // hits below the field of Ctrl-K
  const PAUSE = 120; // ms without a key
  const root = document.documentElement.dataset.content_root || "./";

  let coming = null; // the engine, once somebody has asked for it
  const script = (name) => new Promise((arrived, failed) => {
    const node = make("script", { src: `${root}_static/${name}` });
    node.addEventListener("load", arrived);
    node.addEventListener("error", failed);
    document.head.append(node);
  });
  const engine = () => {
    coming ??= Promise.all(["search-engine.js", "search-data.js"].map(script)).then(() => {
      const made = window.CLEARFORMER_ENGINE(window.CLEARFORMER_INDEX);
      window.CLEARFORMER_SEARCH = made.search;
      return made;
    });
    coming.catch(() => { coming = null; }); // the next key tries again
    return coming;
  };

  const excerpt = ({ split, stem }, text, words) => {
    const wanted = new Set(words.map(stem));
    const parts = text.split(/([\p{L}\p{N}_]+)/u);
    const isHit = (part) => wanted.has(stem(part)) || part.split("_").some((piece) => piece && wanted.has(stem(piece)));
    const places = parts.flatMap((part, i) => (part && isHit(part) ? [i] : []));
    const near = (start) => places.filter((i) => i >= start && i < start + 60).length;
    const best = places.length ? places.reduce((a, b) => (near(b) > near(a) ? b : a)) : 0;
    const from = Math.max(0, best - 16), to = Math.min(parts.length, from + 70);
    const line = make("p", { class: "search-excerpt" }, from > 0 ? "… " : "");
    for (let i = from; i < to; i++) line.append(places.includes(i) ? make("mark", {}, parts[i]) : parts[i]);
    line.append(to < parts.length ? " …" : "");
    return line;
  };

  const address = (page, anchor) => `${root}${window.CLEARFORMER_INDEX.pages[page][0]}${anchor ? `#${anchor}` : ""}`;

  const definition = ([name, anchor, words]) => {
    const glossary = window.CLEARFORMER_INDEX.pages.findIndex(([page]) => page.endsWith("/glossary.html"));
    return make("p", { class: "search-definition" }, make("a", { href: address(glossary, anchor) }, name), `: ${words}`);
  };

  const item = (made, words, [page, anchor, title, text, code]) => {
    const name = window.CLEARFORMER_INDEX.pages[page][1];
    const where = anchor ? make("span", { class: "search-page" }, name) : "";
    const stems = new Set(words.map(made.stem));
    const isInText = made.split(text).some((word) => stems.has(made.stem(word)));
    return make("li", {}, make("a", { href: address(page, anchor) }, anchor ? title : name), where, excerpt(made, isInText || !code ? text : code, words));
  };

  // What was found, below the field; on the page of the search a button brings what is left.
  const show = (made, query, box, status, most) => {
    box.replaceChildren();
    if (!made.split(query).length) {
      status.textContent = query.trim() ? `“${query.trim()}” has no letter or number: type a word.` : "";
      return;
    }
    const { term, hits, others, instead } = made.search(query);
    const of = hits.length + others.length;
    const first = hits.slice(0, most);
    const respelt = instead ? `Nothing is spelt so; this is for “${instead}”. ` : "";
    const count = `${of} section${of === 1 ? "" : "s"}`;
    status.textContent = of
      ? `${respelt}${count}${first.length < of ? `, the best ${first.length} below` : ""}.`
      : `Nothing found for “${query}”. Try fewer words, or the glossary.`;
    const words = [...made.wantedIn(query).flatMap((word) => [word, ...made.matching(word)]), ...(term ? made.split(term[0]) : [])];
    const list = make("ol", { class: "search-hits" }, ...first.map((hit) => item(made, words, hit)));
    box.append(...(term ? [definition(term)] : []), list);
    if (first.length === of) return;
    if (most < Infinity) {
      box.append(make("a", { class: "search-all", href: `${root}search.html?q=${encodeURIComponent(query)}` }, `All ${count}`));
      return;
    }
    const rest = make("button", { type: "button", class: "reader-button" }, `Show the other ${others.length}`);
    rest.addEventListener("click", () => {
      const more = others.map((hit) => item(made, words, hit));
      list.append(...more);
      more[0].querySelector("a").focus(); // the button that had the focus goes
      rest.remove();
      status.textContent = `${count}.`;
    });
    box.append(rest);
  };

  // A field that answers while one types. What is asked before the index is there is answered when it comes.
  const follow = (field, box, status, most, asked = () => {}) => {
    const ask = () => {
      if (!field.value.trim()) return show({ split: () => [] }, "", box, status, most);
      if (!window.CLEARFORMER_SEARCH) status.textContent = "The index of the book is on its way …";
      return engine().then((made) => show(made, field.value, box, status, most),
        () => { status.textContent = "The index of the book did not arrive. Type on to try again."; });
    };
    let waiting;
    field.addEventListener("input", () => {
      engine().catch(() => {});
      clearTimeout(waiting);
      waiting = setTimeout(() => { ask(); asked(); }, PAUSE);
    });
    return ask;
  };

  const field = document.querySelector(".search-page-form input[name=q]");
  if (field) {
    const [box, status] = ["#search-results", "#search-status"].map((name) => document.querySelector(name));
    const ask = follow(field, box, status, Infinity, () => {
      try { history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`); } catch { /* a file has no history */ }
    });
    field.value = new URLSearchParams(location.search).get("q") || "";
    ask();
    field.focus();
  }
  const dialog = document.querySelector("#pst-search-dialog");
  const asked = dialog?.querySelector("input[name=q]");
  if (asked) {
    const status = make("p", { class: "search-status", role: "status" });
    const box = make("div", { class: "search-below" });
    dialog.append(status, box);
    follow(asked, box, status, FIRST);
  }
})();

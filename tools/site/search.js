// Searches the sections of the book. The index is a script beside the page (tools/extension/search.py), so that nothing is fetched.
(() => {
  const { pages, sections, terms, synonyms } = window.CLEARFORMER_INDEX || { pages: [], sections: [], terms: [], synonyms: {} };
  const IN_TITLE = 6, IN_CODE = 0.4; // what a word counts there, beside 1 in the text
  const SATURATION = 1.2, LENGTH = 0.6; // BM25's k and b
  const TAUGHT_ON_PAGE = 3, DEFINED = 0.3; // in the chapter to which the glossary sends for a word; in its definition
  const AT_MOST = 30, OF_A_PAGE = 4;

  // Words are compared without case and plural, and with -ise as -ize.
  const fold = (word) => word.toLowerCase().replace(/is(ation|e|ed|er|ing)(s?)$/, "iz$1$2").replace(/([^su])s$/, "$1");
  const split = (text) => text.match(/[\p{L}\p{N}_]+/gu) || [];
  const words = (text) => split(text).flatMap((word) => {
    const parts = word.split("_").filter(Boolean);
    return parts.length > 1 ? [fold(word), ...parts.map(fold)] : [fold(word)];
  });
  const phrase = (text) => ` ${split(text).map(fold).join(" ")} `;

  const postings = new Map(); // word -> Map(section -> weighted count)
  const lengths = [];
  const phrases = [];
  sections.forEach(([, , title, text, code], number) => {
    const inText = words(text);
    const count = (list, weight) => list.forEach((word) => {
      if (!postings.has(word)) postings.set(word, new Map());
      const found = postings.get(word);
      found.set(number, (found.get(number) || 0) + weight);
    });
    count(words(title), IN_TITLE);
    count(inText, 1);
    count(words(code), IN_CODE);
    lengths.push(inText.length + 1);
    phrases.push([phrase(title), phrase(text)]);
  });
  const meanLength = lengths.reduce((sum, n) => sum + n, 0) / (lengths.length || 1);

  // A word that the book does not have stands for those that begin with it.
  const matching = (word) => {
    if (postings.has(word)) return [word];
    return word.length < 3 ? [] : [...postings.keys()].filter((known) => known.startsWith(word));
  };

  const scores = (query) => {
    const total = new Map();
    const wanted = [...new Set(split(query).map(fold))];
    const hits = new Map();
    wanted.forEach((word) => {
      const counts = new Map();
      matching(word).forEach((known) => postings.get(known).forEach((n, section) => counts.set(section, (counts.get(section) || 0) + n)));
      const rarity = Math.log(1 + (sections.length - counts.size + 0.5) / (counts.size + 0.5));
      counts.forEach((n, section) => {
        const norm = SATURATION * (1 - LENGTH + LENGTH * lengths[section] / meanLength);
        total.set(section, (total.get(section) || 0) + rarity * n * (SATURATION + 1) / (n + norm));
        hits.set(section, (hits.get(section) || 0) + 1);
      });
    });
    const whole = phrase(query);
    total.forEach((score, section) => {
      const [title, text] = phrases[section];
      const together = title.includes(whole) ? 2 : text.includes(whole) ? 1.5 : 1;
      total.set(section, score * together * (hits.get(section) / wanted.length) ** 3 * pages[sections[section][0]][2] * sections[section][5]);
    });
    return total;
  };

  const termFor = (query) => {
    const other = Object.keys(synonyms).find((word) => phrase(word) === phrase(query));
    return terms.find(([term]) => [query, ...(other ? [synonyms[other]] : [])].some((name) => phrase(term) === phrase(name)));
  };

  // The section to which the glossary sends for a word. Where it names a chapter, the one that fits word and definition best.
  const teaching = ([, , definition, [page, anchor]], total) => {
    const defined = scores(definition);
    const there = sections.map((section, number) => number).filter((number) => sections[number][0] === page && sections[number][1]);
    there.forEach((number) => { if (total.has(number)) total.set(number, total.get(number) * TAUGHT_ON_PAGE); });
    const fit = (number) => (total.get(number) || 0) + DEFINED * (defined.get(number) || 0);
    const first = there.find((number) => sections[number][1] === anchor) ?? there.sort((a, b) => fit(b) - fit(a))[0];
    if (first !== undefined) total.set(first, fit(first));
    return first;
  };

  const search = (query) => {
    const term = termFor(query);
    const total = scores(query);
    if (term) scores(term[0]).forEach((score, section) => total.set(section, Math.max(total.get(section) || 0, score)));
    const first = term?.[3] ? teaching(term, total) : null;
    const ofPage = {};
    const ranked = [...total].sort((a, b) => (b[0] === first) - (a[0] === first) || b[1] - a[1] || a[0] - b[0]).map(([section]) => sections[section]);
    const kept = ranked.filter(([page]) => (ofPage[page] = (ofPage[page] || 0) + 1) <= OF_A_PAGE).slice(0, AT_MOST);
    return { term, hits: kept, others: ranked.filter((section) => !kept.includes(section)) };
  };

  // The page
  const make = window.CLEARFORMER_MAKE; // reader.js has it, and stands on every page before this

  const excerpt = (text, query) => {
    const wanted = new Set(split(query).map(fold));
    const parts = text.split(/([\p{L}\p{N}_]+)/u);
    const isHit = (part) => wanted.has(fold(part)) || part.split("_").some((piece) => piece && wanted.has(fold(piece)));
    const places = parts.flatMap((part, i) => (part && isHit(part) ? [i] : []));
    const near = (start) => places.filter((i) => i >= start && i < start + 60).length;
    const best = places.length ? places.reduce((a, b) => (near(b) > near(a) ? b : a)) : 0;
    const from = Math.max(0, best - 16), to = Math.min(parts.length, from + 70);
    const line = make("p", { class: "search-excerpt" }, from > 0 ? "… " : "");
    for (let i = from; i < to; i++) line.append(places.includes(i) ? make("mark", {}, parts[i]) : parts[i]);
    line.append(to < parts.length ? " …" : "");
    return line;
  };

  const address = (page, anchor) => `${pages[page][0]}${anchor ? `#${anchor}` : ""}`;

  const show = (query, box, status) => {
    box.replaceChildren();
    if (!split(query).length) {
      status.textContent = query.trim() ? `“${query.trim()}” has no letter or number: type a word.` : "";
      return;
    }
    const { term, hits, others } = search(query);
    const of = hits.length + others.length;
    status.textContent = of
      ? `${of} section${of === 1 ? "" : "s"}${others.length ? `, the best ${hits.length} below` : ""}.`
      : `Nothing found for “${query}”. Try fewer words, or the glossary.`;
    if (term) {
      const glossary = pages.findIndex(([name]) => name.endsWith("/glossary.html"));
      box.append(make("p", { class: "search-definition" }, make("a", { href: address(glossary, term[1]) }, term[0]), `: ${term[2]}`));
    }
    const list = make("ol", { class: "search-hits" });
    const item = ([page, anchor, title, text, code]) => {
      const name = pages[page][1];
      const where = anchor ? make("span", { class: "search-page" }, name) : "";
      const words = term ? `${query} ${term[0]}` : query;
      const isInText = split(query).some((word) => phrase(text).includes(` ${fold(word)} `));
      return make("li", {}, make("a", { href: address(page, anchor) }, anchor ? title : name), where,
        excerpt(isInText || !code ? text : code, words));
    };
    list.append(...hits.map(item));
    box.append(list);
    if (!others.length) return;
    const rest = make("button", { type: "button", class: "reader-button" }, `Show the other ${others.length}`);
    rest.addEventListener("click", () => {
      const more = others.map(item);
      list.append(...more);
      more[0].querySelector("a").focus(); // the button that had the focus goes
      rest.remove();
      status.textContent = `${of} section${of === 1 ? "" : "s"}.`;
    });
    box.append(rest);
  };

  window.CLEARFORMER_SEARCH = search;
  const field = document.querySelector(".search-page-form input[name=q]");
  const box = document.querySelector("#search-results"), status = document.querySelector("#search-status");
  if (!field || !box) return;
  const ask = () => show(field.value, box, status);
  field.value = new URLSearchParams(location.search).get("q") || "";
  let waiting;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      ask();
      try { history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`); } catch { /* a file has no history */ }
    }, 150);
  });
  ask();
  field.focus();
})();

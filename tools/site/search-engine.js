// Ranks the sections of the book for a query: BM25 over stems, with titles, phrases, the glossary and aliases.
window.CLEARFORMER_ENGINE = ({ pages, sections, terms, synonyms, aliases, stops }) => {
  const IN_TITLE = 6, IN_CODE = 0.4, OF_PAGE = 2; // what a word counts there and in the title of its page, beside 1 in the text
  const WHOLE_PAGE = 0.8; // what a hit counts in the lines before the first section, which sections say at length
  const SATURATION = 1.2, LENGTH = 0.6; // BM25's k and b
  const NAMED = 1.6; // where the glossary sends for a term that is a part of the query
  const TAUGHT_ON_PAGE = 3, DEFINED = 0.3; // in the chapter to which the glossary sends for a word; in its definition
  const AT_MOST = 30, OF_A_PAGE = 4;
  const COVER = 2; // the power of the share of the query that a section has
  const PART = 0.5; // what the parts of a joined name count beside the name

  const split = (text) => text.match(/[\p{L}\p{N}_]+/gu) || [];

  // Words are compared by what is left without case and endings: tokenisation, tokenizer and tokenize are one.
  const kept = new Map();
  const stem = (word) => {
    if (kept.has(word)) return kept.get(word);
    let left = word.toLowerCase().replace(/is(ations?|es?|ed|ers?|ing)$/, "iz$1");
    if (/[a-z]{4}/.test(left)) {
      left = left.replace(/ies$/, "y").replace(/([^aius])s$/, "$1").replace(/izations?$/, "iz");
      for (const ending of [/^(\w{5,})al$/, /^(\w{4,})(?:ing|ed|er|or|ly)$/, /^(\w{3,}[st])ion$/, /^(\w{3,})e$/]) left = left.replace(ending, "$1");
      left = left.replace(/([bdgmnprt])\1$/, "$1");
    }
    kept.set(word, left);
    return left;
  };

  // The words of a text; of a joined name, such as layer_norm, LayerNorm or gpt2, its parts, too.
  const parts = (word) => word.split(/_|(?<=[a-z])(?=[A-Z])|(?<=\p{L}{2})(?=\d+$)/u).filter(Boolean);
  const hyphened = (text) => (text.match(/\p{L}{3,}(?:-\p{L}{3,})+/gu) || []).map((word) => word.replaceAll("-", ""));
  const words = (text) => [
    ...split(text).flatMap((word) => {
      const inside = parts(word);
      return [[stem(word), 1], ...(inside.length > 1 ? inside.map((part) => [stem(part), PART]) : [])];
    }),
    ...hyphened(text).map((word) => [stem(word), PART]), // as some write it: finetuning
  ];
  const idle = new Set(stops.split(" ").map(stem));
  const phrase = (text) => ` ${split(text).map(stem).filter((word) => !idle.has(word)).join(" ")} `;

  const postings = new Map(); // stem -> Map(section -> weighted count)
  const spelt = new Map(); // as it stands in the text, in small letters -> stem
  const lengths = [];
  sections.forEach(([page, anchor, title, text, code], number) => {
    const inText = words(text);
    [...split(`${title} ${text}`), ...hyphened(`${title} ${text}`)].forEach((word) => spelt.set(word.toLowerCase(), stem(word)));
    const count = (list, weight) => list.forEach(([word, share]) => {
      if (!postings.has(word)) postings.set(word, new Map());
      const found = postings.get(word);
      found.set(number, (found.get(number) || 0) + weight * share);
    });
    count(words(title), IN_TITLE);
    if (anchor) count(words(pages[page][1]), OF_PAGE);
    count(inText, 1);
    count(words(code), IN_CODE);
    lengths.push(inText.length + 1);
  });
  const meanLength = lengths.reduce((sum, n) => sum + n, 0) / (lengths.length || 1);

  // Letters left out, added, exchanged, or two in the wrong order; more than `most` of them count as most + 1.
  const distance = (one, other, most) => {
    if (Math.abs(one.length - other.length) > most) return most + 1;
    let [older, old] = [[], Array.from({ length: other.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= one.length; i++) {
      const row = [i];
      for (let j = 1; j <= other.length; j++) {
        row[j] = Math.min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (one[i - 1] !== other[j - 1]));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], older[j - 2] + 1);
      }
      [older, old] = [old, row];
    }
    return old[other.length];
  };

  // A word that the book does not have stands for those that begin with it, and else for the nearest in spelling.
  const found = new Map();
  const respelt = new Map(); // what was typed -> the nearest word of the book
  const matching = (typed) => {
    if (postings.has(stem(typed))) return [stem(typed)];
    if (!found.has(typed)) found.set(typed, unknown(typed));
    return found.get(typed);
  };
  const unknown = (typed) => {
    const begun = typed.length < 3 ? [] : [...postings.keys()].filter((it) => it.startsWith(typed));
    if (begun.length || typed.length < 4 || /\d/.test(typed)) return begun;
    const most = typed.length < 7 ? 1 : 2;
    const near = [...spelt].filter(([, it]) => postings.get(it).size > 1).map(([word, it]) => [distance(typed, word, most), word, it]).filter(([d]) => d <= most);
    const least = Math.min(...near.map(([d]) => d));
    const nearest = near.filter(([d]) => d === least).sort((a, b) => postings.get(b[2]).size - postings.get(a[2]).size);
    if (nearest.length) respelt.set(typed, nearest[0][1]);
    return [...new Set(nearest.map(([, , it]) => it))].slice(0, 3);
  };

  // What is typed, in the book's words: names in other languages and habits first, then no word that says nothing.
  const plain = (query) => {
    let text = ` ${split(query).join(" ").toLowerCase()} `;
    Object.entries(aliases).forEach(([alias, meant]) => {
      const isSpaced = /^[\p{Script=Latin}\d ]+$/u.test(alias); // Chinese has no spaces between words
      const place = isSpaced ? ` ${alias} ` : alias;
      if (text.includes(place)) text = text.replace(place, ` ${meant} `);
    });
    return text;
  };
  const wantedIn = (query) => {
    const typed = split(plain(query)).flatMap((word) => (postings.has(stem(word)) ? [word] : parts(word)));
    const telling = typed.filter((word) => !idle.has(stem(word)));
    return [...new Set(telling.length ? telling : typed)];
  };

  const phrases = new Map(); // of the sections that have all words of some query
  const phrasesOf = (number) => {
    if (!phrases.has(number)) phrases.set(number, sections[number].slice(2, 4).map(phrase));
    return phrases.get(number);
  };

  const scores = (query) => {
    const total = new Map();
    const wanted = wantedIn(query);
    const covered = new Map(); // how much of the query a section has, each word as it is rare
    let all = 0;
    wanted.forEach((word) => {
      const counts = new Map();
      matching(word).forEach((known) => postings.get(known).forEach((n, section) => counts.set(section, (counts.get(section) || 0) + n)));
      const rarity = Math.log(1 + (sections.length - counts.size + 0.5) / (counts.size + 0.5));
      if (counts.size) all += rarity;
      counts.forEach((n, section) => {
        const norm = SATURATION * (1 - LENGTH + LENGTH * lengths[section] / meanLength);
        total.set(section, (total.get(section) || 0) + rarity * n * (SATURATION + 1) / (n + norm));
        covered.set(section, (covered.get(section) || 0) + rarity);
      });
    });
    const whole = phrase(wanted.join(" "));
    total.forEach((score, section) => {
      const [title, text] = covered.get(section) < all - 1e-9 ? ["", ""] : phrasesOf(section);
      const together = title.includes(whole) ? 2 : text.includes(whole) ? 1.5 : 1;
      total.set(section, score * together * (covered.get(section) / all) ** COVER * pages[sections[section][0]][2] * sections[section][5] * (sections[section][1] ? 1 : WHOLE_PAGE));
    });
    return total;
  };

  const termFor = (query) => {
    const wanted = wantedIn(query);
    const names = [...[query, wanted.join(" "), plain(query)].map(phrase), ` ${wanted.map((word) => matching(word)[0] ?? word).join(" ")} `];
    const other = Object.keys(synonyms).find((word) => names.includes(phrase(word)));
    if (other) names.push(phrase(synonyms[other]));
    return terms.find(([term]) => names.includes(phrase(term)));
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

  // The terms of the glossary that a longer query names, also by another name.
  const termsIn = (query) => {
    const told = phrase(wantedIn(query).join(" "));
    const meant = Object.entries(synonyms).filter(([word]) => told.includes(phrase(word))).map(([, term]) => term);
    return terms.filter(([term]) => told.includes(phrase(term)) || meant.includes(term));
  };

  const search = (query) => {
    const term = termFor(query);
    const total = scores(query);
    if (!term) termsIn(query).forEach(([, , , place]) => sections.forEach(([page, anchor], number) => {
      if (place && page === place[0] && (place[1] ? anchor === place[1] : anchor) && total.has(number)) total.set(number, total.get(number) * (place[1] ? NAMED : Math.sqrt(NAMED)));
    }));
    if (term) scores(term[0]).forEach((score, section) => total.set(section, Math.max(total.get(section) || 0, score)));
    const first = term?.[3] ? teaching(term, total) : null;
    const ofPage = {};
    const ranked = [...total].sort((a, b) => (b[0] === first) - (a[0] === first) || b[1] - a[1] || a[0] - b[0]).map(([section]) => sections[section]);
    const best = ranked.filter(([page]) => (ofPage[page] = (ofPage[page] || 0) + 1) <= OF_A_PAGE).slice(0, AT_MOST);
    const wanted = wantedIn(query);
    const instead = wanted.some((word) => respelt.has(word)) ? wanted.map((word) => respelt.get(word) ?? word).join(" ") : "";
    return { term, hits: best, others: ranked.filter((section) => !best.includes(section)), instead };
  };

  return { search, split, stem, wantedIn, matching };
};

// Which cards are dealt: the five of a day, those of some chapters, and the order of the messages of a card.
(() => {
  const HAND = 5;
  const DAY = 86_400_000; // milliseconds
  const FIRST = [1, 2, 3]; // the chapters of one who has marked none as read
  // How many of the five of a day come from which chapters: they begin easy, and go through the whole course.
  const SHARES = [[1, 3, 2], [4, 8, 1], [9, 13, 1], [14, Infinity, 1]];

  // The cards of all chapters, each with what its chapter says once for several of them.
  const cardsOf = (decks) => decks.flatMap((deck) => deck.cards.map((card) => ({
    ...card,
    key: `${deck.slug}/${card.question}/${card.id}`,
    chapter: { slug: deck.slug, number: deck.number, title: deck.title },
    question: deck.questions[card.question],
    messages: card.messages.map((i) => deck.messages[i]),
    read: deck.readings[card.read],
  })));

  // The calendar's day, wherever one is, as a whole number.
  const dayOf = (date) => Math.round(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY);

  // A number from 0 up to 2^32 that looks like chance and is the same everywhere (FNV-1a, and a mixing at the end).
  const lot = (text) => {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  };
  const shuffled = (cards, salt) => cards
    .map((card) => [lot(`${salt} ${card.key}`), card])
    .sort(([a, one], [b, other]) => a - b || (one.key < other.key ? -1 : 1))
    .map(([, card]) => card);

  // The same for everybody on that day. Each round through the cards has an order of its own.
  const today = (cards, day) => SHARES.flatMap(([from, to, count]) => {
    const those = cards.filter(({ chapter }) => chapter.number >= from && chapter.number <= to);
    if (!those.length) return [];
    return Array.from({ length: Math.min(count, those.length) }, (_, i) => {
      const place = day * count + i;
      return shuffled(those, Math.floor(place / those.length))[place % those.length];
    });
  }).filter((card, i, all) => all.indexOf(card) === i);

  // Cards of these chapters: those that were never seen, then those that were seen longest ago.
  const handOf = (cards, numbers, seen, day) => shuffled(cards.filter(({ chapter }) => numbers.includes(chapter.number)), day)
    .sort((one, other) => (seen[one.key] ?? -1) - (seen[other.key] ?? -1))
    .slice(0, HAND);

  // The messages in the order in which they are offered; the first one of a card is its own.
  const offered = (card) => card.messages
    .map((text, i) => ({ text, own: i === 0 }))
    .sort((one, other) => lot(`${card.key} ${one.text}`) - lot(`${card.key} ${other.text}`));

  // Whether a line is one of those that have to change.
  const isWrong = (card, line) => card.changes.some(([first, count]) => line >= first && line < first + count);
  const countWrong = (card) => card.changes.reduce((sum, [, count]) => sum + count, 0);

  // What the site has kept of the reader: the numbers of the chapters that are marked as read.
  const chaptersRead = (text, decks) => {
    try {
      const { read } = JSON.parse(text) || {};
      return decks.filter(({ slug }) => read?.[`chapters/${slug}`] === true).map(({ number }) => number);
    } catch {
      return [];
    }
  };

  // 1, 2, 3 and 7 as "chapters 1–3, 7"
  const inWords = (numbers) => {
    const sorted = [...new Set(numbers)].sort((a, b) => a - b);
    const runs = [];
    for (const n of sorted) {
      if (runs.length && runs.at(-1).at(-1) === n - 1) runs.at(-1).push(n);
      else runs.push([n]);
    }
    const texts = runs.map((run) => (run.length > 2 ? `${run[0]}–${run.at(-1)}` : run.join(", ")));
    return `${sorted.length === 1 ? "chapter" : "chapters"} ${texts.join(", ")}`;
  };

  const slip = { HAND, FIRST, cardsOf, dayOf, today, handOf, offered, isWrong, countWrong, chaptersRead, inWords };
  globalThis.clearformer.slip = { ...globalThis.clearformer.slip, ...slip };
})();

// What is remembered: cards seen, cards missed with the day on which they come back, and the points of each day's five.
(() => {
  const WAITS = [1, 7]; // days until a card comes back that was missed, and that was then known once
  const LINE = [2, 1, 0]; // points for the line, found at the first try, at the second, or shown
  const MESSAGE = 1;
  const MOST = LINE[0] + MESSAGE;
  const FRESH = { seen: {}, box: {}, days: {} };

  const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  const isMemory = (found) => isRecord(found) && ["seen", "box", "days"].every((name) => isRecord(found[name]));

  // As far as it has the right form, and is about cards that there are.
  const cleaned = (found, keys, day, hand) => {
    const entries = (name, isGood) => Object.fromEntries(Object.entries(found[name]).filter(([key, value]) => isGood(key, value)));
    const isWait = (value) => Array.isArray(value) && WAITS[value[0]] !== undefined && Number.isInteger(value[0]) && Number.isInteger(value[1]);
    const box = entries("box", (key, value) => keys.has(key) && isWait(value));
    // Whoever sets the clock back should not wait for a year.
    for (const [key, [step, due]] of Object.entries(box)) box[key] = [step, Math.min(due, day + WAITS[step])];
    return {
      seen: entries("seen", (key, value) => keys.has(key) && Number.isInteger(value)),
      box,
      days: entries("days", (key, value) => /^\d+$/.test(key) && Number.isInteger(value) && value >= 0 && value <= hand * MOST),
    };
  };

  const points = ({ misses, told }) => LINE[misses] + (told ? MESSAGE : 0);
  const isKnown = ({ misses, told }) => misses < LINE.length - 1 && told; // found, at the second try at the latest

  const due = (memory, day) => Object.entries(memory.box)
    .filter(([, [, when]]) => when <= day)
    .sort(([a, [, one]], [b, [, other]]) => one - other || (a < b ? -1 : 1))
    .map(([key]) => key);

  // After a card was played. One that is known before it is due stays where it is.
  const noted = (memory, key, played, day) => {
    const box = { ...memory.box };
    const waiting = box[key];
    if (!isKnown(played)) box[key] = [0, day + WAITS[0]];
    else if (waiting && waiting[1] <= day) {
      if (waiting[0] + 1 < WAITS.length) box[key] = [waiting[0] + 1, day + WAITS[waiting[0] + 1]];
      else delete box[key];
    }
    return { ...memory, seen: { ...memory.seen, [key]: day }, box };
  };

  // The first score of a day counts.
  const scored = (memory, day, sum) => ({ ...memory, days: { [day]: sum, ...memory.days } });

  const slip = { FRESH, MOST, isMemory, cleaned, points, isKnown, due, noted, scored };
  globalThis.clearformer.slip = { ...globalThis.clearformer.slip, ...slip };
})();

// The switches, the tasks, and what a race was worth. Pure: no page.
(() => {
  const STEPS = 1000, CHUNK = 10, LAST = 5; // steps of a race, of a report, and how many reports are judged at its end
  const YES_NO = [[true, "yes"], [false, "no"]];
  const BY = [["before", "before"], ["after", "after"], ["none", "none"]];
  const SWITCHES = [
    ["blocks", "Blocks", [[2, "2"], [1, "1"]]],
    ["mask", "Causal mask: before or after the softmax", BY],
    ["positions", "Positions are added", YES_NO],
    ["scaled", "Scores are divided by √K", YES_NO],
    ["residual", "Residual connections", YES_NO],
    ["norm", "LayerNorm: before or after each part", [["pre", "before"], ["post", "after"], ["none", "none"]]],
    ["hidden", "Hidden units in each block", [[64, "64"], [16, "16"], [4, "4"]]],
    ["rate", "Learning rate", [0.001, 0.003, 0.008, 0.02, 0.05].map((rate) => [rate, String(rate)])],
  ];
  const BASE = Object.fromEntries(SWITCHES.map(([name, , [[first]]]) => [name, first]));
  BASE.rate = 0.008;
  const SEEDS = [1, 2, 3];
  const SIDES = ["Left", "Right"];

  const TASKS = {
    blocks: {
      name: "One block or two?", start: [{ ...BASE, blocks: 1 }, { ...BASE }],
      goal: "Goal: find out whether one block can learn to copy. Predict, then race, and look where the second block looks.",
    },
    cheat: {
      name: "Make one cheat", start: [{ ...BASE }, { ...BASE }],
      goal: "Goal: find a single switch that makes a model cheat, so that its loss falls below the line. There are two such settings.",
    },
    smallest: {
      name: "The smallest", start: [{ ...BASE }, { ...BASE, blocks: 1 }],
      goal: "Goal: a model that copies 95 % of the repeated letters, does not cheat, and has fewer than LIMIT weights, which is what one block takes here.",
    },
    rate: {
      name: "Too fast for one", start: [{ ...BASE }, { ...BASE, norm: "none" }],
      goal: "Goal: find a learning rate at which one learns and the other stays where guessing is. They may differ in nothing but LayerNorm.",
    },
  };

  const differing = (a, b) => SWITCHES.map(([name]) => name).filter((name) => a[name] !== b[name]);

  // Means over the last reports up to number `at`.
  const recent = (history, at, side) => {
    const reports = history.slice(Math.max(1, at - LAST + 1), at + 1).map((report) => report.sides[side]);
    const mean = (name) => reports.reduce((sum, it) => sum + (it[name] ?? NaN), 0) / reports.length;
    return { loss: mean("loss"), repeated: mean("repeated"), fresh: mean("fresh") };
  };

  // Nothing learned: within 0.15 of log 12, where guessing among 12 letters is.
  const verdict = ({ loss, repeated }, line) => {
    if (!Number.isFinite(loss)) return "broken";
    if (loss < line) return "cheats";
    if (repeated >= 0.95) return "copies";
    return loss > Math.log(12) - 0.15 ? "nothing" : "part";
  };

  const lower = ([left, right]) =>
    Math.abs(left - right) <= 0.1 || (!Number.isFinite(left) && !Number.isFinite(right)) ? "alike"
      : left < right || !Number.isFinite(right) ? "left" : "right";

  const below = ([left, right]) =>
    left === "cheats" ? (right === "cheats" ? "both" : "left") : right === "cheats" ? "right" : "nobody";

  const learned = (end) => end.verdict === "copies" || (end.verdict === "part" && end.loss < 2.3);

  // Whether a finished race reaches the goal of a task; ends are {verdict, loss, count} of both.
  const REACHED = {
    blocks: (sides) => differing(...sides).join() === "blocks",
    cheat: (sides, ends) => sides.some((side, i) => differing(side, BASE).length === 1 && ends[i].verdict === "cheats"),
    smallest: (sides, ends, limit) => ends.some((end) => end.verdict === "copies" && end.count < limit),
    rate: (sides, ends) =>
      differing(...sides).join() === "norm" &&
      ends.some((end, i) => learned(end) && ["nothing", "broken"].includes(ends[1 - i].verdict)),
  };

  const isSide = (side) =>
    side !== null && typeof side === "object" &&
    SWITCHES.every(([name, , options]) => options.some(([value]) => value === side[name]));

  // Whether what was found in the storage was written by this page.
  const isGood = ({ task, sides, seed, reached, smallest, guesses }) =>
    Object.hasOwn(TASKS, task) && Array.isArray(sides) && sides.length === 2 && sides.every(isSide) && SEEDS.includes(seed) &&
    Array.isArray(reached) && reached.every((name) => Object.hasOwn(TASKS, name)) &&
    (smallest === null || (Number.isInteger(smallest) && smallest > 0)) &&
    Array.isArray(guesses) && guesses.length === 2 && guesses.every((n) => Number.isInteger(n) && n >= 0) && guesses[0] <= guesses[1];

  const fresh = () => ({ task: "blocks", sides: structuredClone(TASKS.blocks.start), seed: 1, reached: [], smallest: null, guesses: [0, 0] });

  (globalThis.clearformer ||= {}).race = {
    STEPS, CHUNK, SWITCHES, BASE, SEEDS, SIDES, TASKS, REACHED, differing, recent, verdict, lower, below, isGood, fresh,
  };
})();

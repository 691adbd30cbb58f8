// The wires between the boxes: drawn behind them, at right angles, where the page is wide enough for a machine.
(() => {
  const { svg, machine } = clearformer;
  const ROOM = 28; // above the boxes of a band, for its wires
  const GAP = 5; // pixels between wires that run side by side

  // Where a box lies in the machine, in its pixels.
  function place(node, machineNode) {
    const a = node.getBoundingClientRect(), b = machineNode.getBoundingClientRect();
    const left = a.left - b.left, top = a.top - b.top;
    return { left, top, right: left + a.width, bottom: top + a.height, x: left + a.width / 2, y: top + a.height / 2 };
  }

  // From one box to the next: right, down its own column, or around what lies between, in a lane of its own.
  function path(from, to, lane) {
    if (isNext(from, to)) {
      const middle = (from.right + to.left) / 2, y = overlap(from, to);
      return y === null ? `M${from.right} ${from.y} H${middle} V${to.y} H${to.left - 4}` : `M${from.right} ${y} H${to.left - 4}`;
    }
    if (isUnder(from, to)) return `M${from.x} ${from.bottom} V${to.top - 4}`;
    if (to.band > from.band) {
      const y = to.bandTop - 8 - GAP * lane, start = from.x + 6 * (lane - 1);
      if (to.isBelow) return `M${start} ${from.bottom} V${y} H${to.left - 9} V${to.y + 8} H${to.left - 4}`;
      return `M${start} ${from.bottom} V${y} H${to.x + GAP * lane - 8} V${to.top - 4}`;
    }
    const y = from.bandTop - 8 - GAP * lane;
    return `M${from.x + GAP * lane} ${from.top} V${y} H${to.x} V${to.top - 4}`;
  }

  const isNext = (from, to) => from.band === to.band && to.column === from.column + 1;
  const isUnder = (from, to) => from.band === to.band && to.column === from.column;

  // A height at which a straight line meets both boxes.
  function overlap(a, b) {
    const top = Math.max(a.top, b.top) + 12, bottom = Math.min(a.bottom, b.bottom) - 12;
    return top < bottom ? (top + bottom) / 2 : null;
  }

  class Wires {
    constructor(machineNode, boxes) {
      this.machineNode = machineNode;
      this.boxes = boxes;
      this.arrow = svg("path", { d: "M0 0 L6 3 L0 6 z" });
      this.drawing = svg("svg", { class: "wires", "aria-hidden": "true" },
        svg("defs", {}, svg("marker", { id: "machine-arrow", viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, this.arrow)));
      this.lines = machine.BOXES.flatMap((box) => box.from.map((from) => ({ from, to: box.name, line: svg("path", { class: "wire" }) })));
      this.drawing.append(...this.lines.map(({ line }) => line));
      new ResizeObserver(() => this.lay()).observe(machineNode);
    }

    // After a box opened or the page changed its width.
    lay() {
      if (getComputedStyle(this.drawing).display === "none") return;
      const places = {};
      for (const [name, { root }] of Object.entries(this.boxes)) {
        const band = root.closest(".band"), row = band.querySelector(".line-up"), top = [...row.children].find((child) => child.contains(root));
        places[name] = {
          ...place(root, this.machineNode), band: Number(band.dataset.band), column: [...row.children].indexOf(top),
          isBelow: top !== root && root !== top.firstChild, bandTop: place(row, this.machineNode).top + ROOM,
        };
      }
      const lanes = {};
      for (const { from, to, line } of this.lines) {
        const lane = (lanes[places[to].band] = (lanes[places[to].band] ?? -1) + (this.isAround(places[from], places[to]) ? 1 : 0));
        line.setAttribute("d", path(places[from], places[to], Math.max(lane, 0)));
      }
    }

    isAround(from, to) {
      return !isNext(from, to) && !isUnder(from, to);
    }

    // Which boxes are open, which light up, and which way the flow goes.
    show(isOpen, isLit, isBack) {
      for (const { from, to, line } of this.lines) {
        line.classList.toggle("open", isOpen(from) && isOpen(to));
        line.classList.toggle("lit", isLit(from) && isLit(to));
        line.toggleAttribute("data-back", isBack);
        line.setAttribute("marker-end", isBack ? "" : "url(#machine-arrow)");
        line.setAttribute("marker-start", isBack ? "url(#machine-arrow)" : "");
      }
    }
  }

  Object.assign(machine, { Wires });
})();

// What the pages to play with share: where their data come from, and a memory that stays on this device.
(() => {
  const { Explorable } = clearformer;
  const KEY = "clearformer-play-"; // reader.js forgets what begins so

  class Play extends Explorable {
    get tag() {
      return this.localName;
    }

    readData() {
      const data = (clearformer.data || {})[this.tag];
      if (!data && this.constructor.hasData) throw new Error("its data have not been loaded.");
      return data || {};
    }

    // What was kept, if isGood says so, else a copy of `fresh`: a stranger may have written there.
    recall(fresh, isGood) {
      if (this.kept) return this.kept;
      try {
        const found = JSON.parse(localStorage.getItem(KEY + this.tag));
        if (found !== null && typeof found === "object" && isGood(found)) return (this.kept = found);
      } catch { /* blocked, or not ours */ }
      return (this.kept = structuredClone(fresh));
    }

    // Blocked or full: what is kept lasts as long as the page.
    keep(value) {
      this.kept = value;
      try {
        localStorage.setItem(KEY + this.tag, JSON.stringify(value));
        return true;
      } catch {
        return false;
      }
    }
  }

  Object.assign(clearformer, { Play });
})();

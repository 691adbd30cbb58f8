// Long work in slices, so that the page stays awake; it waits while nobody looks at the page.
(() => {
  const SLICE = 30; // milliseconds
  const rest = () => new Promise((done) => setTimeout(done));
  const seen = () => new Promise((done) => {
    if (!document.hidden) return done();
    document.addEventListener("visibilitychange", done, { once: true });
  });

  class Work {
    // The result of a generator; null if another job has begun meanwhile. `told` hears the shares that it yields.
    async run(job, told = () => {}) {
      const mine = (this.latest = {});
      for (let until = performance.now() + SLICE; ;) {
        const { done, value } = job.next();
        if (done) {
          this.latest = null;
          return value;
        }
        if (value !== undefined) told(value);
        if (performance.now() < until) continue;
        await rest();
        await seen();
        if (this.latest !== mine) return null;
        until = performance.now() + SLICE;
      }
    }

    stop() {
      this.latest = null;
    }
  }

  Object.assign(clearformer, { Work });
})();

// Questions that were answered wrong come back after a day, and then after a week (chapters/play/again); and the link that
// progress() prints in a notebook. reader.js brings this where it is needed; all of it stays in this browser.
(() => {
  const { save, questions, options, quizPage, title } = window.CLEARFORMER_READER;
  const make = window.CLEARFORMER_MAKE;
  const DAY = 86400000;
  const inDays = (days) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

  const comeBack = (question, right) => save((state) => {
    const id = `${quizPage} ${question.dataset.question}`, known = state.due[id];
    if (!right) {
      const text = question.previousElementSibling?.textContent.trim().slice(0, 200) || "A question";
      state.due[id] = { page: quizPage, question: question.dataset.question, title: title(), text, week: false, on: inDays(1) };
    } else if (known && known.on <= inDays(0)) {
      if (known.week) delete state.due[id];
      else Object.assign(known, { week: true, on: inDays(7) });
    }
  });

  // A question that is due, as if it had never been answered.
  const open = (name) => {
    const question = questions.find((it) => it.dataset.question === name);
    if (!question) return;
    save((state) => delete state.answers[quizPage]?.[name]);
    options(question).forEach((option) => { option.open = false; });
    question.querySelector("summary").focus();
    question.previousElementSibling?.scrollIntoView({ block: "center" });
  };

  const takePoints = () => {
    const found = [...location.hash.matchAll(/(\d\d-[a-z0-9-]+):(\d{1,5})\/(\d{1,5})(?=,|$)/g)];
    save((state) => found.forEach(([, slug, got, of]) => { state.points[slug] = { got: Number(got), of: Number(of) }; }));
    const told = found.length ? `The points of ${found.length} exercise${found.length > 1 ? "s" : ""} now stand in the contents.`
      : "This link holds no points: copy all of it, as progress() prints it.";
    document.querySelector(".reader-points")?.remove();
    document.querySelector("article h1")?.after(make("p", { class: "reader-points", role: "status" }, told));
    history.replaceState(null, "", location.pathname + location.search);
  };

  window.CLEARFORMER_AGAIN = { comeBack, open, takePoints };
})();

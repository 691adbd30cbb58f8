// What a reader did: chapters read, answers chosen, the place they left. It stays in this browser, and nothing is sent anywhere.
(() => {
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  window.CLEARFORMER_MAKE = make; // for search.js

  const KEY = "clearformer";
  const EMPTY = { read: {}, answers: {}, questions: {}, points: {}, due: {}, place: null };
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const chapter = document.querySelector(".chapter-place"); // only a numbered chapter has one
  const page = chapter?.dataset.page;

  let memory = structuredClone(EMPTY); // all there is where the browser stores nothing
  let isUnsaved = false; // what is in memory is newer than what is stored
  const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  // What a stranger, or an older page, has written there counts as far as it has the right form.
  const checked = (found) => {
    const good = structuredClone(EMPTY);
    if (!isRecord(found)) return good;
    for (const name of ["read", "answers", "questions", "points", "due"]) if (isRecord(found[name])) good[name] = found[name];
    for (const name of ["points", "due"]) for (const [key, value] of Object.entries(good[name])) if (!isRecord(value)) delete good[name][key];
    for (const [name, answers] of Object.entries(good.answers)) if (!isRecord(answers) || !Object.values(answers).every(isRecord)) delete good.answers[name];
    if (isRecord(found.place) && ["page", "title", "section", "anchor"].every((name) => typeof found.place[name] === "string")) good.place = found.place;
    return good;
  };
  const load = () => {
    if (isUnsaved) return memory;
    try {
      memory = checked(JSON.parse(localStorage.getItem(KEY) || "{}"));
    } catch { /* blocked, or not ours: what is in memory counts */ }
    return memory;
  };
  const save = (change) => {
    change(load());
    try {
      localStorage.setItem(KEY, JSON.stringify(memory));
      isUnsaved = false;
    } catch { /* blocked or full */
      isUnsaved = true;
    }
    draw();
  };

  const say = (text) => make("span", { class: "visually-hidden" }, text);

  // A question counts as answered with the option that is opened first.
  const questions = [...document.querySelectorAll(".quiz-question")];
  const options = (question) => [...question.querySelectorAll("details.quiz")];
  const words = (option) => (option.dataset.words ||= option.querySelector("summary").textContent);
  const quizPage = document.querySelector("[data-quiz-page]")?.dataset.quizPage;
  const chosen = (question) => load().answers[quizPage]?.[question.dataset.question];
  const score = (answers) => Object.values(answers || {}).filter((answer) => answer.right).length;

  const showAnswers = () => questions.forEach((question) => {
    const answer = chosen(question);
    options(question).forEach((option) => {
      const isAnswer = answer?.option === words(option);
      option.classList.toggle("chosen", isAnswer);
      option.querySelector(".quiz-yours")?.remove();
      if (isAnswer) option.querySelector("summary").append(make("span", { class: "quiz-yours" }, " (your answer)"));
    });
  });

  const drawScore = () => {
    const line = document.querySelector(".quiz-score");
    if (!line) return;
    const answers = load().answers[quizPage] || {};
    const answered = questions.filter((question) => answers[question.dataset.question]).length;
    line.querySelector("[role=status]").textContent = answered
      ? `Right at the first try: ${score(answers)} of ${answered} answered${answered < questions.length ? `, ${questions.length - answered} to go` : ""}.`
      : "";
    line.hidden = !answered;
  };

  const startQuiz = () => {
    if (!questions.length) return;
    const again = make("button", { type: "button", class: "reader-button" }, "Answer again");
    questions.at(-1).after(make("div", { class: "quiz-score" }, make("span", { role: "status" }), " ", again));
    questions.forEach((question) => options(question).forEach((option) => {
      option.open = chosen(question)?.option === words(option);
      option.querySelector("summary").addEventListener("click", () => {
        if (chosen(question)) return;
        const answer = { option: words(option), right: option.dataset.answer === "right" };
        save((state) => {
          state.answers[quizPage] = { ...state.answers[quizPage], [question.dataset.question]: answer };
          state.questions[quizPage] = questions.length;
        });
        bring("again.js").then(() => window.CLEARFORMER_AGAIN.comeBack(question, answer.right));
      });
    }));
    again.addEventListener("click", () => {
      save((state) => delete state.answers[quizPage]);
      questions.flatMap(options).forEach((option) => { option.open = false; });
      questions[0].querySelector("summary").focus();
    });
  };

  // At the end of a chapter: read or not.
  let isForgotten = false; // on this visit: its place is then not kept either
  const startChapter = () => {
    const button = make("button", { type: "button", class: "reader-button mark-read" });
    button.addEventListener("click", () => save((state) => {
      if (state.read[page]) delete state.read[page];
      else state.read[page] = true;
    }));
    const forClass = make("span", { class: "for-class" }, "For a class: ", make("a", { href: "?present" }, "slides"), " · ", make("a", { href: "?handout" }, "a sheet to hand out"));
    document.querySelector("article.bd-article").append(make("p", { class: "chapter-end" }, button, " ", make("span", { role: "status" }), forClass));
    const leave = () => {
      const above = [...document.querySelectorAll("article section[id]")].filter((section) => section.getBoundingClientRect().top < innerHeight / 2).at(-1);
      const heading = above?.querySelector("h2, h3, h4")?.firstChild?.textContent.trim();
      if (isForgotten || scrollY < innerHeight) return; // a look at the first screen is no reading
      save((state) => { state.place = { page, title: chapterTitle(), section: heading || "", anchor: above?.id || "" }; });
    };
    addEventListener("pagehide", leave);
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") leave(); });
  };
  const chapterTitle = () => {
    const title = document.querySelector("article h1").cloneNode(true);
    title.querySelectorAll(".headerlink").forEach((link) => link.remove());
    return title.textContent.trim();
  };

  const drawChapter = () => {
    const button = document.querySelector(".mark-read");
    if (!button) return;
    const isRead = Boolean(load().read[page]);
    const label = isRead ? "✓ Read (undo)" : "Mark as read";
    const changed = button.textContent && button.textContent !== label;
    button.textContent = label;
    if (changed) button.parentElement.querySelector("[role=status]").textContent = isRead ? "Marked in the contents." : "The mark is gone.";
  };

  // The contents: a mark for each chapter read, the score of its quiz, and one control that forgets everything.
  const contents = document.querySelector(".bd-sidebar-primary .bd-links");
  const drawContents = () => {
    if (!contents) return;
    const state = load();
    contents.querySelectorAll(".reader-mark, .reader-forget").forEach((mark) => mark.remove());
    contents.querySelectorAll("a[href]").forEach((link) => {
      const target = new URL(link.getAttribute("href"), location.href);
      const name = target.pathname.startsWith(root.pathname) ? target.pathname.slice(root.pathname.length).replace(/\.html$/, "") : "";
      const answers = state.answers[name];
      const points = state.points[name.replace("chapters/", "")];
      const marks = [state.read[name] ? "✓" : "", points ? `${points.got}/${points.of}\u00a0p` : "", answers ? `${score(answers)}/${state.questions[name] ?? Object.keys(answers).length}` : ""].filter(Boolean);
      if (!marks.length) return;
      const words = [state.read[name] ? "read" : "", points ? `${points.got} of ${points.of} points` : "", answers ? `${score(answers)} questions right` : ""].filter(Boolean).join(", ");
      link.append(make("span", { class: "reader-mark" }, make("span", { "aria-hidden": "true" }, marks.join(" ")), say(` (${words})`)));
    });
    const nRead = Object.keys(state.read).length;
    if (!nRead && !["answers", "points", "due"].some((name) => Object.keys(state[name]).length) && !state.place) return;
    const forget = make("button", { type: "button", class: "reader-button" }, "Forget my progress");
    forget.addEventListener("click", () => {
      if (!confirm("Forget which chapters you have read, your answers and your place? They are kept in this browser only.")) return;
      save(() => { memory = structuredClone(EMPTY); });
      try {
        Object.keys(localStorage).filter((name) => name.startsWith("clearformer-play-")).forEach((name) => localStorage.removeItem(name));
      } catch { /* blocked: nothing was kept */ }
      isForgotten = true;
      questions.flatMap(options).forEach((option) => { option.open = false; });
      contents.querySelector("a[href]")?.focus(); // the button is gone
    });
    contents.append(make("p", { class: "reader-forget" }, nRead ? `${nRead} read. ` : "", forget));
  };

  const drawResume = () => {
    document.querySelector(".reader-resume")?.remove();
    const { place: left, due } = load();
    const title = document.querySelector("article h1");
    if (!title || !document.querySelector("meta[name=page][content=index]")) return;
    const today = new Date().toISOString().slice(0, 10), nDue = Object.values(due).filter((it) => it.on <= today).length;
    const again = nDue ? make("a", { href: new URL("chapters/play/again.html", root).href }, `${nDue} question${nDue > 1 ? "s" : ""} to answer again`) : "";
    if (!left) {
      if (again) title.after(make("p", { class: "reader-resume" }, again));
      return;
    }
    const address = new URL(`${left.page}.html${left.anchor ? `#${left.anchor}` : ""}`, root);
    const where = left.section ? `${left.title}: ${left.section}` : left.title;
    title.after(make("p", { class: "reader-resume" }, make("a", { href: address.href }, "Continue where you left off"), ` · ${where}`, again && " · ", again));
  };

  const draw = () => [showAnswers, drawScore, drawChapter, drawContents, drawResume].forEach((step) => step());

  // The contents of the page follow the reader also after a jump, as by a link or by dragging the scroll bar.
  const followSections = () => {
    const links = [...document.querySelectorAll(".bd-sidebar-secondary .nav-link[href^='#']")];
    const places = links.map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]).filter(([, section]) => section);
    if (!places.length) return;
    const mark = () => {
      const top = 0.25 * innerHeight;
      const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
      const above = places.filter(([, section]) => section.getBoundingClientRect().top <= top);
      const [current] = (atEnd ? places.at(-1) : above.at(-1)) || [null];
      links.forEach((link) => {
        link.classList.toggle("active", link === current);
        if (link === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
      document.querySelectorAll(".bd-sidebar-secondary .toc-entry").forEach((entry) => entry.classList.toggle("active", entry.contains(current)));
      const box = document.querySelector(".bd-sidebar-secondary");
      if (current && box && box.scrollHeight > box.clientHeight) {
        const { top: y, bottom } = current.getBoundingClientRect();
        const frame = box.getBoundingClientRect();
        if (y < frame.top || bottom > frame.bottom) box.scrollTop += y - frame.top - frame.height / 3;
      }
    };
    let waiting;
    const later = () => { // behind the theme's own marking, which a jump leads astray
      clearTimeout(waiting);
      waiting = setTimeout(mark, 100);
    };
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    later();
  };

  // Paper is white.
  let theme;
  addEventListener("beforeprint", () => { ({ theme } = document.documentElement.dataset); document.documentElement.dataset.theme = "light"; });
  addEventListener("afterprint", () => { document.documentElement.dataset.theme = theme; });

  // What few pages need comes when it is asked for: slides, sheets, and questions that come back (again.js).
  const brought = {};
  const bring = (name) => (brought[name] ||= new Promise((done) => {
    const script = make("script", { src: new URL(`_static/${name}`, root).href });
    script.addEventListener("load", done);
    document.head.append(script);
  }));
  window.CLEARFORMER_READER = { save, questions, options, quizPage, title: () => chapterTitle() };
  const asked = new URLSearchParams(location.search);
  if (asked.has("present") || asked.has("handout")) {
    document.head.append(make("link", { rel: "stylesheet", href: new URL("_static/present.css", root).href }));
    addEventListener("load", () => bring("present.js"));
  }
  const takePoints = () => location.hash.startsWith("#progress=") && bring("again.js").then(() => window.CLEARFORMER_AGAIN.takePoints());

  startQuiz();
  if (page) startChapter();
  takePoints();
  addEventListener("hashchange", takePoints);
  draw();
  if (asked.has("again")) bring("again.js").then(() => window.CLEARFORMER_AGAIN.open(asked.get("again")));
  addEventListener("storage", (event) => { if (event.key === KEY) draw(); });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    isForgotten = false;
    draw();
  });
  addEventListener("load", followSections);
})();

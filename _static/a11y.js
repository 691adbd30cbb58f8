// What the theme leaves undone for keyboard and screen-reader users.
(() => {
  const WIDE = ".bd-article div.math, .bd-article mjx-container, .bd-article pre, .bd-article .pst-scrollable-table-container, .bd-article figure, .bd-article .wide-drawing, .bd-article .today, .bd-article .cell_output";
  const FADED = ".bd-article :is(pre, .pst-scrollable-table-container, .wide-drawing, figure.map, .today, .cell_output)"; // equations have a shadow of their own

  const fades = (box) => box.matches?.(FADED) && !box.querySelector(".viewcode-back");

  // A button's name contains the words it shows; icons are decoration; a summary is named by its own text, or by the page whose sections it opens.
  const nameControls = () => {
    document.querySelectorAll(".search-button__button").forEach((button) => {
      const text = button.innerText.replace(/\s+/g, " ").trim();
      if (text && !(button.getAttribute("aria-label") || "").includes(text)) button.setAttribute("aria-label", text);
    });
    document.querySelectorAll(".theme-switch").forEach((icon) => {
      icon.setAttribute("aria-hidden", "true");
      icon.removeAttribute("title");
      icon.querySelector("title")?.remove();
    });
    document.querySelectorAll("button.copybtn:not([aria-label])").forEach((button) => button.setAttribute("aria-label", "Copy"));
    document.querySelectorAll("article summary[aria-label]").forEach((summary) => summary.removeAttribute("aria-label"));
    document.querySelectorAll(".bd-sidebar-primary .has-children > details > summary:not([aria-label])").forEach((summary) => {
      const above = summary.closest(".has-children").querySelector("a");
      summary.setAttribute("aria-label", `Pages of ${above.textContent.trim()}`);
    });
    const sidebar = document.querySelector(".bd-sidebar-primary");
    if (sidebar && !sidebar.hasAttribute("role")) {
      sidebar.setAttribute("role", "complementary");
      sidebar.setAttribute("aria-label", "Book navigation");
    }
  };

  // What is wider than the page can be scrolled with the arrow keys.
  const reachScrollers = () => {
    document.querySelectorAll(WIDE).forEach((box) => {
      const scrolls = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      if (scrolls) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
      fade(box);
    });
  };

  // What goes on beyond its right edge says so, until it has been scrolled to its end.
  const fade = (box) => {
    const rest = box.getAttribute("tabindex") === "0" ? box.scrollWidth - box.clientWidth - box.scrollLeft : 0;
    if (fades(box)) box.toggleAttribute("data-more", rest > 8);
  };

  // A side bar that lies over the page on a small screen: choosing a section of the page closes it, and so does Esc from
  // wherever the focus is, which then returns to the button that opened it.
  const closeSidebars = () => {
    [["#pst-primary-sidebar-modal", ".primary-toggle"], ["#pst-secondary-sidebar-modal", ".secondary-toggle"]].forEach(([name, toggle]) => {
      const bar = document.querySelector(name), button = document.querySelector(toggle);
      if (!bar || !button) return;
      let followed = false;
      bar.addEventListener("click", ({ target }) => {
        if (!target.closest("a[href^='#']")) return;
        followed = true;
        bar.close();
      });
      document.addEventListener("keydown", ({ key }) => { if (key === "Escape" && bar.open) bar.close(); });
      bar.addEventListener("close", () => {
        if (!followed) button.focus({ preventScroll: true });
        followed = false;
      });
    });
  };

  window.addEventListener("load", async () => {
    closeSidebars();
    nameControls();
    new MutationObserver(nameControls).observe(document.body, { childList: true, subtree: true });
    await window.MathJax?.startup?.promise;
    reachScrollers();
    // The article, not the body: it still grows while the side bars of a widened window slide into their places.
    new ResizeObserver(reachScrollers).observe(document.querySelector(".bd-article") ?? document.body);
    document.addEventListener("scroll", ({ target }) => fades(target) && fade(target), { capture: true, passive: true });
  });
})();

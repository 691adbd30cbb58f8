// Typesets formulas with MathJax. Reads {"mathjax": folder, "fonts": address, "formulas": [[TeX, display?], …]} and writes
// {"html": […], "css": …}; a formula that MathJax cannot read comes back as "merror".
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
global.MathJax = {
  loader: {
    paths: { mathjax: input.mathjax },
    load: ["adaptors/liteDOM", "input/tex", "output/chtml", "a11y/assistive-mml"],
    versionWarnings: false,
    require: (file) => require(file),
  },
  chtml: { fontURL: input.fonts },
  startup: { typeset: false },
};
require(`${input.mathjax}/startup.js`);
global.MathJax.startup.promise
  .then(() => {
    const { adaptor } = MathJax.startup;
    const html = input.formulas.map(([tex, display]) => adaptor.outerHTML(MathJax.tex2chtml(tex, { display })));
    process.stdout.write(JSON.stringify({ html, css: adaptor.textContent(MathJax.chtmlStylesheet()) }));
  })
  .catch((error) => {
    process.stderr.write(`${error}\n`);
    process.exit(1);
  });

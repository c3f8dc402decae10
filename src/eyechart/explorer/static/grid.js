// The grid: j and k move between rows, Enter opens one. On a static site it also draws and narrows the rows.
"use strict";
(() => {
  let chosen = -1;

  function rows() {
    return [...document.querySelectorAll(".verdicts tbody tr")].filter((row) => row.querySelector(".open-question"));
  }

  function choose(index) {
    const all = rows();
    if (!all.length) return;
    chosen = Math.min(Math.max(index, 0), all.length - 1);
    all.forEach((row, at) => row.classList.toggle("chosen", at === chosen));
    all[chosen].querySelector(".open-question").focus();
    all[chosen].scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "j") choose(chosen + 1);
    else if (event.key === "k") choose(chosen - 1);
    else return;
    event.preventDefault();
  });
  document.addEventListener("htmx:after:swap", () => { chosen = -1; });

  // Enter in a text field is a change and a submission at once: one choice, one step back.
  let asked = null;
  const query = (form) => new URLSearchParams(new FormData(form)).toString();
  document.addEventListener("change", (event) => {
    const form = event.target.closest(".facets form[hx-get]");
    if (form) asked = query(form);
  }, true);
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".facets form[hx-get]") || query(event.target) !== asked) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  document.addEventListener("htmx:finally:request", () => { asked = null; });
})();

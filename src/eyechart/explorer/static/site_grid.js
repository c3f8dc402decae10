// The grid of a static site: draws and narrows the rows of the data in this page. The choice stands behind #.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("grid-data").textContent);
  const form = document.getElementById("choice");
  const picker = document.getElementById("run");
  const codes = { right: "0", wrong: "1", unscored: "2" };
  const glyphs = ["●", "×", "–"];
  const words = ["right", "wrong", "not scored"];
  const facetFields = [["task", "Task"], ["source", "Source"], ["target", "Target sent, px"], ["seen", "Target seen, px"]];
  data.runs.forEach((run, number) => picker.append(new Option(run.label, number)));

  function readState() {
    const found = new URLSearchParams(location.hash.slice(1));
    const asked = Number(found.get("run"));
    const state = { run: Number.isInteger(asked) && asked >= 0 && asked < data.runs.length ? asked : 0 };
    for (const name of ["text", "sort", "task", "source", "target", "seen"]) state[name] = found.get(name) || "";
    for (const name of Object.keys(codes)) state[name] = found.getAll(name).filter(Boolean);
    return state;
  }

  function query(state) {
    const found = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      for (const one of Array.isArray(value) ? value : [value]) if (one !== "" || name === "run") found.append(name, one);
    }
    return found.toString();
  }

  function go(changed) {
    const state = { ...readState(), ...changed };
    if (query(state) === query(readState()) && location.hash) return;
    location.hash = query(state);
  }

  function mark(state, question, condition) {
    const [name, other] = condition.split("@");
    const run = data.runs[other === undefined ? state.run : Number(other)];
    const own = run && (run === data.runs[state.run] ? question : run.questions.find((one) => one.id === question.id && one.content === question.content));
    return own && run.conditions.includes(name) ? own.marks[run.conditions.indexOf(name)] : undefined;
  }

  function fits(state, question, without) {
    for (const [field] of facetFields) if (field !== without && state[field] && question[field] !== state[field]) return false;
    const part = state.text.toLowerCase();
    if (part && !question.id.toLowerCase().includes(part) && !question.text.toLowerCase().includes(part)) return false;
    return Object.entries(codes).every(([name, code]) => state[name].every((condition) => mark(state, question, condition) === code));
  }

  function sorted(state, questions) {
    const right = (question) => [...question.marks].filter((code) => code === "0").length;
    const byId = (a, b) => (a.id < b.id ? -1 : 1);
    const target = (question) => (question.target_px === null ? Infinity : question.target_px);
    if (state.sort === "id") return questions.sort(byId);
    if (state.sort === "target") return questions.sort((a, b) => target(a) - target(b) || byId(a, b));
    return questions.sort((a, b) => right(b) - right(a) || (a.marks < b.marks ? -1 : a.marks > b.marks ? 1 : byId(a, b)));
  }

  function node(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function drawHeads(run, shown) {
    const names = run.conditions.map((name) => node("th", { scope: "col", className: "tilted" }, node("span", {}, node("code", { textContent: name }))));
    const shares = run.conditions.map((_, at) => {
      const scored = shown.filter((question) => question.marks[at] !== "2");
      return node("td", { textContent: `${scored.filter((question) => question.marks[at] === "0").length}/${scored.length}` });
    });
    document.getElementById("heads").replaceChildren(
      node("tr", {}, node("th", { scope: "col", className: "text", textContent: "question" }), node("th", { scope: "col", textContent: "target, px" }), node("th", { scope: "col", textContent: "seen, px" }), ...names),
      node("tr", { className: "totals" }, node("th", { scope: "row", className: "text", textContent: "right of scored" }), node("td"), node("td"), ...shares),
    );
  }

  function drawRow(run, question) {
    const address = `questions/${encodeURIComponent(question.page)}`;
    const cells = [...question.marks].map((code, at) => node("td", { className: `mark ${run.marks[Number(code)]}` },
      node("a", { href: `${address}#panes=${encodeURIComponent(run.conditions[at])},${encodeURIComponent(run.baselines[run.conditions[at]])}`, title: `${run.conditions[at]}: ${words[code]}` },
        node("span", { ariaHidden: "true", textContent: glyphs[code] }), node("span", { className: "sr", textContent: words[code] }))));
    return node("tr", {}, node("th", { scope: "row", className: "text" }, node("a", { className: "open-question", href: address, textContent: question.id }), " ", node("span", { className: "note", textContent: question.text })),
      node("td", { textContent: question.target_px ?? "" }), node("td", { textContent: question.seen_px ?? "" }), ...cells);
  }

  function drawFacets(state, run) {
    const room = document.getElementById("facets");
    room.replaceChildren();
    for (const [field, label] of facetFields) {
      const values = [...new Set(run.questions.map((question) => question[field]))].sort((a, b) => (parseFloat(a) - parseFloat(b)) || (a < b ? -1 : 1));
      if (values.length < 2) continue;
      const left = run.questions.filter((question) => fits(state, question, field));
      room.append(node("h2", { textContent: label }), node("ul", { className: "plain" }, ...values.map((value) => {
        const isChosen = state[field] === value;
        const link = node("a", { href: `#${query({ ...state, [field]: isChosen ? "" : value })}`, textContent: (isChosen ? "× " : "") + value });
        if (isChosen) link.setAttribute("aria-current", "true");
        return node("li", {}, link, " ", node("span", { className: "count", textContent: left.filter((question) => question[field] === value).length }));
      })));
    }
    const isFirst = (one) => run.views[run.conditions.indexOf(one.right)] === "crop_3x";
    const patterns = run.conditions.map((name) => [name, run.baselines[name]]).filter(([name, base]) => name !== base).flatMap(([name, base]) => [[name, base], [base, name]]).map(([right, wrong]) => {
      const pattern = { ...state, right: [right], wrong: [wrong], unscored: [] };
      return { right, wrong, pattern, n: run.questions.filter((question) => fits(pattern, question)).length };
    }).filter((one) => one.n).sort((a, b) => isFirst(b) - isFirst(a) || b.n - a.n).slice(0, 6);
    if (patterns.length) {
      room.append(node("h2", { textContent: "Patterns" }), node("ul", { className: "plain" }, ...patterns.map((one) => node("li", {},
        node("a", { href: `#${query(one.pattern)}`, textContent: `right in ${one.right}, wrong in ${one.wrong}` }), " ", node("span", { className: "count", textContent: one.n })))));
    }
  }

  function draw() {
    const state = readState();
    const run = data.runs[state.run];
    const shown = sorted(state, run.questions.filter((question) => fits(state, question)));
    picker.value = state.run;
    for (const name of Object.keys(codes)) {
      const options = [...new Set([...run.conditions, ...state[name]])];
      form.elements[name].replaceChildren(new Option("–", ""), ...options.map((option) => new Option(option, option, false, option === state[name][0])));
    }
    form.elements.text.value = state.text;
    form.elements.sort.value = state.sort || "pattern";
    drawHeads(run, shown);
    drawFacets(state, run);
    document.getElementById("rows").replaceChildren(...shown.map((question) => drawRow(run, question)));
    document.getElementById("status").replaceChildren(`${shown.length} of ${run.questions.length} questions`);
    if (query(state) !== `run=${state.run}`) document.getElementById("status").append(" · ", node("a", { href: `#run=${state.run}`, textContent: "show all" }));
    try { sessionStorage.setItem("eyechart-choice", JSON.stringify({ pages: shown.map((question) => question.page), query: query(state) })); } catch { /* without storage, next and previous follow the list of all */ }
  }

  picker.addEventListener("change", () => { location.hash = `run=${picker.value}`; });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    const { name, value } = event.target;
    const state = readState();
    go({ [name]: name in codes ? [value, ...state[name].slice(1)].filter(Boolean) : name === "sort" && value === "pattern" ? "" : value });
  });
  window.addEventListener("hashchange", draw);
  draw();
})();

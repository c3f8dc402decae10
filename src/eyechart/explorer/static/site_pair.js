// Two models on random questions of a static site: a file of answers per run and view. The draw stands behind #.
"use strict";
const eyechartAnswers = {};
(() => {
  const data = JSON.parse(document.getElementById("pair-data").textContent);
  const form = document.getElementById("pair-form");
  const fields = ["first", "second", "view", "dataset", "category", "first_mark", "second_mark", "differ", "seed"];
  const marks = [["right", "right"], ["wrong", "wrong"], ["unscored", "not scored"]];
  const words = { right: "right", wrong: "wrong", unscored: "not scored", missing: "no answer" };
  const glyphs = { right: "●", wrong: "×", unscored: "–", missing: "·" };
  let latest = 0;
  let drawnState = null;

  function readState() {
    const found = new URLSearchParams(location.hash.slice(1));
    const state = Object.fromEntries(fields.map((name) => [name, found.get(name) || ""]));
    const number = (name, fallback) => {
      const asked = Number(state[name] === "" ? fallback : state[name]);
      return Number.isInteger(asked) && asked >= 0 && asked < data.runs.length ? asked : fallback;
    };
    state.first = number("first", data.opening[0]);
    state.second = number("second", data.opening[1]);
    state.seed = /^\d+$/.test(state.seed) ? Number(state.seed) : 0;
    return state;
  }

  function go(changed) {
    const state = { ...readState(), ...changed };
    location.hash = new URLSearchParams(fields.filter((name) => state[name] !== "").map((name) => [name, state[name]])).toString();
  }

  // --- the draw: the same as that of the local server ------------------------------------------------------------------

  const table = Array.from({ length: 256 }, (_, start) => {
    let value = start;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value >>> 0;
  });

  function crc32(text) {
    let value = 0xffffffff;
    for (const byte of new TextEncoder().encode(text)) value = table[(value ^ byte) & 255] ^ (value >>> 8);
    return (value ^ 0xffffffff) >>> 0;
  }

  function mixed(given) {
    let value = given >>> 0;
    value = Math.imul(value ^ (value >>> 16), 0x85ebca6b) >>> 0;
    value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  }

  function drawn(seed, common) {
    const own = mixed((seed + 0x9e3779b9) % 4294967296);
    const keyed = common.map((pair) => [mixed((crc32(pair.id) ^ own) >>> 0), pair]);
    return keyed.sort((a, b) => a[0] - b[0] || (a[1].id < b[1].id ? -1 : 1)).slice(0, data.shown).map((entry) => entry[1]);
  }

  // --- answers, from a file per run and view ---------------------------------------------------------------------------

  function load(run, view) {
    const name = data.runs[run].files[view];
    if (eyechartAnswers[name]) return Promise.resolve(eyechartAnswers[name]);
    return new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = name;
      script.addEventListener("load", () => resolve(eyechartAnswers[name]));
      script.addEventListener("error", () => { drawnState = null; empty(`${name} is missing from this site.`); });
      document.head.append(script);
    });
  }

  function node(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function answer(label, [mark, letter, reason, before, lit, after]) {
    const sign = node("span", { className: `mark ${mark}`, textContent: glyphs[mark] });
    sign.setAttribute("aria-hidden", "true");
    const verdict = node("p", { className: "verdict" });
    if (letter) verdict.append("read as ", node("b", { textContent: letter }), " · ");
    verdict.append(words[mark], reason ? ` (${reason})` : "");
    const reply = before + lit + after
      ? node("pre", { className: "reply" }, before, ...(lit ? [node("mark", { textContent: lit })] : []), after)
      : node("p", { className: "note", textContent: "There is no text." });
    return node("article", { className: `answer ${mark}` }, node("h3", {}, sign, ` ${label}`), verdict, reply);
  }

  function picture(entry, view, caption, shown) {
    if (!shown) return node("p", { className: "note", textContent: "The picture is not part of this site." });
    const frame = node("div", { className: "pair-picture" });
    frame.dataset.id = entry.id;
    const zoom = node("button", { type: "button", textContent: "Zoom" });
    zoom.dataset.zoom = "";
    zoom.setAttribute("aria-expanded", "false");
    frame.append(node("img", { className: "thumb", alt: `picture of ${entry.id} under ${view}`, src: shown.url, loading: "lazy" }),
      node("p", { className: "note" }, `${caption} `, zoom), node("script", { type: "application/json", textContent: JSON.stringify(shown) }));
    return frame;
  }

  function section(state, view, entry, at) {
    const title = node("h2", { id: `q${at}` }, node("a", { href: `questions/${encodeURIComponent(entry.page)}` }, node("code", { textContent: entry.id })), " ",
      node("span", { className: "note", textContent: [...new Set([entry.dataset, entry.category])].filter((name) => name !== "(none)").join(" · ") }));
    const choices = entry.choices.map(([letter, text, isGold]) => node("li", { className: isGold ? "gold" : "" }, node("b", { textContent: letter }), ` ${text}`,
      ...(isGold ? [node("span", { className: "note", textContent: " right" })] : [])));
    const asked = node("div", { className: "asked" },
      node("div", {}, node("p", { className: "lead", textContent: entry.text }), ...(choices.length ? [node("ol", { className: "choices" }, ...choices)] : [])),
      picture(entry, view, entry.mine[6], entry.mine[7]));
    const answers = [answer(data.runs[state.first].label, entry.mine)];
    if (state.first !== state.second) answers.push(answer(data.runs[state.second].label, entry.theirs));
    const made = node("section", { className: "pair-entry" }, title, asked, node("div", { className: "two" }, ...answers));
    made.setAttribute("aria-labelledby", `q${at}`);
    return made;
  }

  // --- the choice ------------------------------------------------------------------------------------------------------

  function fill(name, options, chosen, all) {
    const given = all === undefined ? options : [["", all], ...options];
    form.elements[name].replaceChildren(...given.map(([value, text]) => new Option(text, value, false, value === chosen)));
    form.elements[name].closest("label").hidden = all !== undefined && options.length < 2;
  }

  function counted(pairs, name) {
    const counts = new Map();
    for (const pair of pairs) counts.set(pair[name], (counts.get(pair[name]) || 0) + 1);
    return [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([value, n]) => [value, `${value} (${n})`]);
  }

  function empty(text) {
    document.getElementById("pair-note").textContent = text;
    document.getElementById("pair-rows").replaceChildren();
  }

  async function draw() {
    const state = readState();
    if (JSON.stringify(state) === drawnState) return; // another picture is zoomed, no more
    drawnState = JSON.stringify(state);
    const turn = (latest += 1);
    const [one, two] = [data.runs[state.first], data.runs[state.second]];
    const names = data.runs.map((run, number) => [String(number), run.title]);
    fill("first", names, String(state.first));
    fill("second", names, String(state.second));
    const views = one.views.filter((view) => view in two.files);
    const content = new Map(two.questions.map(([id, hash]) => [id, hash]));
    const common = one.questions.filter(([id, hash]) => content.get(id) === hash);
    if (!views.length || !common.length) { empty("These runs share no question under one view: choose runs of one benchmark."); return; }
    const view = views.includes(state.view) ? state.view : views[0];
    fill("view", views.map((name) => [name, name]), view);
    form.elements.view.closest("label").hidden = views.length < 2;
    const [mine, theirs] = await Promise.all([load(state.first, view), load(state.second, view)]);
    if (turn !== latest) return;
    const none = ["missing", "", "", "", "", "", "", null];
    const pairs = common.map(([id]) => ({ id, ...data.questions[one.key][id], page: one.pages[id], mine: mine[id] || none, theirs: theirs[id] || none }));
    document.getElementById("dataset-label").textContent = one.words[0];
    document.getElementById("category-label").textContent = one.words[1];
    fill("dataset", counted(pairs, "dataset"), state.dataset, "all");
    fill("category", counted(pairs, "category"), state.category, "all");
    fill("first_mark", marks, state.first_mark, "any");
    fill("second_mark", marks, state.second_mark, "any");
    form.elements.differ.value = state.differ === "yes" ? "yes" : "";
    const verdict = (found) => (found[0] === "missing" ? "unscored" : found[0]);
    const fitting = pairs.filter((pair) => (!state.dataset || pair.dataset === state.dataset) && (!state.category || pair.category === state.category)
      && (!state.first_mark || verdict(pair.mine) === state.first_mark) && (!state.second_mark || verdict(pair.theirs) === state.second_mark)
      && (!state.differ || verdict(pair.mine) !== verdict(pair.theirs)));
    const shown = drawn(state.seed, fitting);
    const which = fitting.length === common.length ? "common to both" : `that fit, of ${common.length} common ones`;
    document.getElementById("pair-note").textContent = `${shown.length} of ${fitting.length} questions ${which}, drawn with seed ${state.seed}; shown under ${view}.`;
    document.getElementById("pair-rows").replaceChildren(...(shown.length ? shown.map((entry, at) => section(state, view, entry, at + 1)) : [node("p", { textContent: "No question fits this choice." })]));
    eyechartPair.follow();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    const { name, value } = event.target;
    go(["first", "second"].includes(name) ? { [name]: value, view: "", dataset: "", category: "" } : { [name]: value });
  });
  document.getElementById("refresh").addEventListener("click", () => go({ seed: readState().seed + 1 }));
  window.addEventListener("hashchange", draw);
  draw();
})();

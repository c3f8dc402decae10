// Two models on random questions, from the data in this page. The draw stands behind #.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("pair-data").textContent);
  const pickers = ["first", "second"].map((name) => document.getElementById(name));
  const which = document.getElementById("which");
  const nShown = 5;
  pickers.forEach((picker) => data.runs.forEach((run, number) => picker.append(new Option(run.label, number))));

  function readState() {
    const found = new URLSearchParams(location.hash.slice(1));
    const number = (name, fallback) => Math.min(Math.max(Number(found.get(name) ?? fallback) || 0, 0), data.runs.length - 1);
    return { first: number("first", 0), second: number("second", 1), seed: Number(found.get("seed")) || 0, which: found.get("which") || "" };
  }

  function go(changed) {
    location.hash = new URLSearchParams({ ...readState(), ...changed }).toString();
  }

  // The same small generator on every machine (mulberry32), so that an address always shows the same questions.
  function random(seed) {
    let state = seed + 0x6d2b79f5;
    return () => {
      state = Math.imul(state ^ (state >>> 15), state | 1);
      state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
      return ((state ^ (state >>> 14)) >>> 0) / 4294967296;
    };
  }

  function node(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function answer(run, entry) {
    const [before, lit, after] = entry.parts;
    return node("article", { className: `answer ${entry.mark}` }, node("h3", { textContent: run.label }),
      node("p", { className: "verdict", textContent: `${entry.letter ? `read as ${entry.letter} · ` : ""}${entry.mark}` }),
      node("pre", { className: "reply" }, before, ...(lit ? [node("mark", { textContent: lit })] : []), after));
  }

  function draw() {
    const state = readState();
    const [one, two] = [data.runs[state.first], data.runs[state.second]];
    pickers[0].value = state.first;
    pickers[1].value = state.second;
    which.value = state.which;
    const theirs = new Map(two.entries.map((entry) => [entry.id, entry]));
    let common = one.entries.filter((entry) => theirs.has(entry.id) && theirs.get(entry.id).content === entry.content);
    if (state.which === "differ") common = common.filter((entry) => entry.mark !== theirs.get(entry.id).mark);
    if (state.which === "wrong") common = common.filter((entry) => entry.mark === "wrong" && theirs.get(entry.id).mark === "wrong");
    const draws = random(state.seed);
    const shown = common.map((entry) => [draws(), entry]).sort((a, b) => a[0] - b[0]).slice(0, nShown).map((pair) => pair[1]);
    document.getElementById("pair-note").textContent = `${shown.length} of ${common.length} common questions, drawn with seed ${state.seed}`;
    document.getElementById("pair-rows").replaceChildren(...shown.map((entry) => node("section", {},
      node("h2", {}, node("a", { href: `questions/${encodeURIComponent(entry.page)}`, textContent: entry.id })),
      node("p", { textContent: entry.text }),
      node("ol", { className: "choices" }, ...entry.choices.map(([letter, text, isGold]) => node("li", { className: isGold ? "gold" : "" }, node("b", { textContent: letter }), ` ${text}`))),
      node("div", { className: "two" }, answer(one, entry), answer(two, theirs.get(entry.id))))));
  }

  pickers.forEach((picker) => picker.addEventListener("change", () => go({ [picker.id]: picker.value })));
  which.addEventListener("change", () => go({ which: which.value }));
  document.getElementById("refresh").addEventListener("click", () => go({ seed: readState().seed + 1 }));
  window.addEventListener("hashchange", draw);
  draw();
})();

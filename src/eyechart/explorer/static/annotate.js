// One question at a time: keys choose, Enter answers; the time runs from when all pictures stand on the screen.
"use strict";
(() => {
  const canZoom = document.body.dataset.zoom === "yes";
  const at = (id) => document.getElementById(id);
  let state = null;
  let chosen = "";
  let began = null;
  let isEnlarged = false;
  let viewers = [];

  async function call(path, body) {
    const asked = body === undefined ? {} : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    };
    const reply = await fetch(path, asked);
    const told = await reply.json();
    at("problem").textContent = reply.ok ? "" : `${told.error}. ${told.hint}`;
    return reply.ok ? told : null;
  }

  function show(next) {
    state = next;
    chosen = "";
    began = null;
    delete document.body.dataset.timed;
    isEnlarged = false;
    viewers.forEach((viewer) => viewer.destroy());
    viewers = [];
    at("pictures").replaceChildren();
    at("options").replaceChildren();
    const isOver = state.position === null;
    at("progress").textContent = `${state.n_done} of ${state.n_all} answered`;
    at("form").querySelectorAll("button").forEach((button) => { button.disabled = isOver; });
    at("question").textContent = isOver ? "All questions are answered. You may close this page." : state.question;
    document.body.dataset.position = isOver ? "end" : String(state.position);
    if (isOver) return;
    Promise.all(state.pictures.map(place)).then(() => {
      // Pictures of a question that was put off may still arrive.
      if (state !== next) return;
      began = performance.now();
      document.body.dataset.timed = "yes";
    });
    if (state.choices.length) state.choices.forEach(option);
    else freeText();
  }

  function place(picture) {
    const frame = document.createElement("div");
    at("pictures").append(frame);
    if (!canZoom) {
      const image = document.createElement("img");
      image.alt = "the picture that is asked about";
      frame.append(image);
      return new Promise((done) => {
        image.addEventListener("load", done, { once: true });
        image.addEventListener("error", done, { once: true });
        image.src = picture.whole;
      });
    }
    frame.className = "viewer";
    const viewer = OpenSeadragon({
      element: frame, drawer: "canvas", animationTime: 0.2, showNavigationControl: false, maxZoomPixelRatio: 8,
      tileSources: {
        width: picture.width, height: picture.height, tileSize: picture.tile, tileOverlap: 0,
        minLevel: 0, maxLevel: picture.max,
        getTileUrl: (level, x, y) => `${picture.base}/${level}/${x}_${y}.png`,
      },
    });
    viewers.push(viewer);
    viewer.addHandler("zoom", () => {
      if (began !== null && viewer.viewport.getZoom() > viewer.viewport.getHomeZoom() * 1.05) isEnlarged = true;
    });
    return new Promise((done) => viewer.addOnceHandler("open", () => viewer.addOnceHandler("tile-drawn", done)));
  }

  function option(text, index) {
    const letter = String.fromCharCode(65 + index);
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", "false");
    button.dataset.letter = letter;
    const key = document.createElement("kbd");
    key.textContent = letter;
    button.append(key, ` ${text}`);
    button.addEventListener("click", () => choose(letter));
    at("options").append(button);
  }

  function freeText() {
    const field = document.createElement("input");
    field.id = "free";
    field.setAttribute("aria-labelledby", "question");
    field.addEventListener("input", () => { chosen = field.value; });
    at("options").append(field);
    field.focus();
  }

  function choose(letter) {
    chosen = letter;
    at("options").querySelectorAll("button").forEach((button) => {
      button.setAttribute("aria-checked", String(button.dataset.letter === letter));
    });
  }

  async function answer(text) {
    if (!text || state === null || state.position === null || began === null) return;
    const first = at("pictures").firstElementChild;
    const box = first ? first.getBoundingClientRect() : { width: 0, height: 0 };
    const scale = window.devicePixelRatio || 1;
    const shown = { width: Math.round(box.width * scale), height: Math.round(box.height * scale), enlarged: isEnlarged };
    const given = { position: state.position, answer: text, seconds: (performance.now() - began) / 1000, shown };
    began = null;
    const next = await call("/answer", given);
    if (next) show(next);
    else began = performance.now() - given.seconds * 1000;
  }

  async function later() {
    if (state === null || state.position === null) return;
    const next = await call("/later", { position: state.position });
    if (next) show(next);
  }

  at("form").addEventListener("submit", (event) => { event.preventDefault(); answer(chosen); });
  at("unsure").addEventListener("click", () => answer("cannot tell"));
  at("later").addEventListener("click", later);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || state === null || state.position === null) return;
    const isWriting = event.target instanceof HTMLInputElement;
    if (event.key === "Enter" && !(event.target instanceof HTMLButtonElement && !event.target.dataset.letter)) {
      event.preventDefault();
      answer(chosen);
      return;
    }
    if (isWriting) return;
    const number = "123456789".indexOf(event.key);
    const index = number >= 0 ? number : event.key.length === 1 ? event.key.toUpperCase().charCodeAt(0) - 65 : -1;
    if (event.key === "0") answer("cannot tell");
    else if (event.key === "ArrowRight") later();
    else if (index >= 0 && index < state.choices.length) choose(String.fromCharCode(65 + index));
    else return;
    event.preventDefault();
  });
  call("/state").then((first) => { if (first) show(first); });
})();

// One question at a time, with the whole picture: boxes are drawn on it or written as numbers, and saved with a reason.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const onlyBoxes = document.body.dataset.boxes === "yes";
  let state = null;
  let viewer = null;
  let isDrawing = false;

  async function call(path, body) {
    const asked = body === undefined ? {} : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    };
    const reply = await fetch(path, asked);
    const told = await reply.json();
    at("problem").textContent = reply.ok ? "" : `${told.error}. ${told.hint}`;
    return reply.ok ? told : null;
  }

  function readBoxes() {
    const lines = at("boxes").value.split("\n").map((line) => line.trim()).filter(Boolean);
    return lines.map((line) => line.split(/[\s,]+/).map(Number));
  }

  function writeBoxes(boxes) {
    at("boxes").value = boxes.map((box) => box.join(" ")).join("\n");
    drawBoxes();
  }

  function drawBoxes() {
    if (!viewer || !viewer.world.getItemCount()) return;
    viewer.clearOverlays();
    for (const box of readBoxes()) {
      if (box.length !== 4 || !box.every(Number.isFinite)) continue;
      const mark = document.createElement("div");
      mark.className = "target-box";
      const place = viewer.viewport.imageToViewportRectangle(box[0], box[1], box[2] - box[0], box[3] - box[1]);
      viewer.addOverlay({ element: mark, location: place });
    }
  }

  function show(next) {
    state = next;
    at("progress").textContent = `question ${state.number + 1} of ${state.n_all}: ${state.id}`;
    document.body.dataset.number = String(state.number);
    at("text").value = state.text;
    at("choices").value = state.choices.join("\n");
    at("answer").value = state.answer || "";
    at("reason").value = "";
    at("edits").replaceChildren(...state.edits.map((edit) => {
      const line = document.createElement("li");
      line.textContent = `${edit.at} ${edit.author}: ${edit.reason}`;
      return line;
    }));
    if (viewer) viewer.destroy();
    const picture = state.picture;
    viewer = OpenSeadragon({
      element: at("viewer"), drawer: "canvas", animationTime: 0.2, showNavigationControl: false, maxZoomPixelRatio: 16,
      gestureSettingsMouse: { clickToZoom: false },
      tileSources: {
        width: picture.width, height: picture.height, tileSize: picture.tile, tileOverlap: 0,
        minLevel: 0, maxLevel: picture.max,
        getTileUrl: (level, x, y) => `${picture.base}/${level}/${x}_${y}.png`,
      },
    });
    viewer.addHandler("open", () => writeBoxes(state.targets));
    viewer.addHandler("canvas-press", (event) => { if (isDrawing) start = pixel(event.position); });
    viewer.addHandler("canvas-drag", (event) => { if (isDrawing) { event.preventDefaultAction = true; stretch(event.position); } });
    viewer.addHandler("canvas-release", () => { if (isDrawing) toggleDrawing(false); start = null; });
  }

  let start = null;

  function pixel(position) {
    const point = viewer.viewport.viewportToImageCoordinates(viewer.viewport.pointFromPixel(position));
    const clamp = (value, most) => Math.min(Math.max(Math.round(value), 0), most);
    return [clamp(point.x, state.picture.width), clamp(point.y, state.picture.height)];
  }

  function stretch(position) {
    if (!start) return;
    const end = pixel(position);
    const box = [Math.min(start[0], end[0]), Math.min(start[1], end[1]), Math.max(start[0], end[0]), Math.max(start[1], end[1])];
    const boxes = readBoxes();
    if (start.isAdded) boxes.pop();
    start.isAdded = true;
    writeBoxes([...boxes, box]);
  }

  function toggleDrawing(on) {
    isDrawing = on;
    at("draw").setAttribute("aria-pressed", String(on));
  }

  function nudge(key, isCorner) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const boxes = readBoxes();
    const box = boxes.at(-1);
    if (!box) return;
    boxes[boxes.length - 1] = box.map((edge, index) => (isCorner && index < 2 ? edge : edge + step[index % 2]));
    writeBoxes(boxes);
  }

  async function move(by) {
    const next = await call(`/state?number=${Math.min(Math.max(state.number + by, 0), state.n_all - 1)}`);
    if (next) show(next);
  }

  async function save() {
    const boxes = readBoxes();
    const choices = at("choices").value.split("\n").map((line) => line.trim()).filter(Boolean);
    const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    const edit = { question_id: state.id, author: state.author, reason: at("reason").value, at: "", schema_version: 1 };
    if (!same(boxes, state.targets)) edit.targets = boxes;
    if (!onlyBoxes && at("text").value !== state.text) edit.text = at("text").value;
    if (!onlyBoxes && !same(choices, state.choices)) edit.choices = choices;
    const letter = at("answer").value.toUpperCase();
    if (!onlyBoxes && letter && letter !== (state.answer || "")) edit.answer = letter;
    const next = await call(`/edit?number=${state.number}`, edit);
    if (next) show(next);
  }

  at("form").addEventListener("submit", (event) => { event.preventDefault(); save(); });
  at("boxes").addEventListener("input", drawBoxes);
  at("draw").addEventListener("click", () => toggleDrawing(!isDrawing));
  at("before").addEventListener("click", () => move(-1));
  at("next").addEventListener("click", () => move(1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter") save();
    else if (event.altKey && event.shiftKey && event.key.startsWith("Arrow")) nudge(event.key, event.ctrlKey);
    else if (event.altKey && event.key === "ArrowRight") move(1);
    else if (event.altKey && event.key === "ArrowLeft") move(-1);
    else if (event.altKey && event.key.toLowerCase() === "b") toggleDrawing(!isDrawing);
    else return;
    event.preventDefault();
  });
  call("/state?number=0").then((first) => { if (first) show(first); });
})();

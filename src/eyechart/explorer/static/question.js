// The panes of one question: deep zoom, moved together at the same place of the original. The state stands behind #.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("pane-data").textContent);
  const room = document.getElementById("panes");
  const isStatic = document.body.dataset.static === "yes";
  const byCondition = new Map(data.panes.map((pane) => [pane.key, pane]));
  const keys = [...byCondition.keys()];
  let viewers = [];
  let leading = false;
  let saving = 0;

  function readState() {
    const found = new URLSearchParams(location.hash.slice(1));
    let shown = (found.get("panes") || "").split(",").map((name) => keyOf(name)).filter(Boolean);
    if (shown.length === 1) {
      const other = data.defaults.map(keyOf).find((name) => name && name !== shown[0]);
      if (other) shown.push(other);
    }
    shown = shown.length ? [...new Set(shown)].slice(0, 4) : data.defaults.map(keyOf).filter(Boolean);
    const at = (found.get("at") || "").split(",").map(Number);
    return {
      panes: shown.length ? shown : keys.slice(0, 2),
      lock: found.get("lock") !== "0",
      box: found.get("box") !== "0",
      seen: found.get("seen") === "1",
      at: at.length === 4 && at.every(Number.isFinite) && at[2] > 0 ? at : null,
      rest: found,
    };
  }

  function keyOf(name) {
    return byCondition.has(name) ? name : keys.find((key) => byCondition.get(key).condition === name);
  }

  function writeState(state, isNew) {
    const words = new URLSearchParams(state.rest);
    for (const name of ["panes", "lock", "box", "seen", "at"]) words.delete(name);
    words.set("panes", state.panes.join(","));
    if (!state.lock) words.set("lock", "0");
    if (!state.box) words.set("box", "0");
    if (state.seen) words.set("seen", "1");
    if (state.at) words.set("at", state.at.map((edge) => Math.round(edge * 10) / 10).join(","));
    const address = "#" + words.toString().replaceAll("%2C", ",");
    if (isNew) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    carry();
  }

  let state = readState();

  // A pane that is closed while its tiles are on their way is not an error.
  for (const loudness of ["error", "warn"]) {
    const complain = OpenSeadragon.console[loudness].bind(OpenSeadragon.console);
    OpenSeadragon.console[loudness] = (...words) => {
      if (!String(words[0]).startsWith("Ignoring tile")) complain(...words);
    };
  }

  // --- one pane --------------------------------------------------------------------------------------------------

  function source(pane, seen) {
    const shown = seen && pane.seen ? pane.seen : pane.sent;
    if (!shown) return null;
    if (shown.url) return { type: "image", url: shown.url, buildPyramid: false };
    return {
      width: shown.width, height: shown.height, tileSize: data.tile, tileOverlap: 0, minLevel: 0, maxLevel: shown.max,
      getTileUrl: (level, x, y) => `${shown.base}/${level}/${x}_${y}.png`,
    };
  }

  function build() {
    viewers.forEach((viewer) => viewer && viewer.destroy());
    room.replaceChildren();
    document.documentElement.style.setProperty("--n-panes", state.panes.length);
    viewers = state.panes.map((key, index) => buildPane(byCondition.get(key), index));
    showAnswers();
    showTools();
  }

  function buildPane(pane, index) {
    const frame = document.createElement("div");
    frame.className = "pane";
    frame.dataset.condition = pane.condition;
    const head = document.createElement("div");
    head.className = "pane-head";
    const picker = document.createElement("select");
    picker.setAttribute("aria-label", `view of pane ${index + 1}`);
    for (const key of keys) picker.append(new Option(key, key, key === pane.key, key === pane.key));
    picker.addEventListener("change", () => {
      change({ panes: state.panes.with(index, picker.value) });
      room.querySelectorAll(".pane-head select")[index].focus(); // the panes were built anew
    });
    const caption = document.createElement("span");
    caption.className = "note";
    caption.textContent = pane.caption + shownAs(pane);
    head.append(picker, caption);
    const view = document.createElement("div");
    view.className = "pane-view";
    frame.append(head, view);
    room.append(frame);
    const tiles = source(pane, state.seen);
    if (!tiles) {
      view.classList.add("empty");
      view.textContent = pane.missing || "no picture is sent under this view";
      return null;
    }
    const viewer = OpenSeadragon({
      element: view, tileSources: tiles, drawer: "canvas", prefixUrl: "", showNavigationControl: false,
      imageSmoothingEnabled: false, crossOriginPolicy: false, animationTime: 0.25, maxZoomPixelRatio: 48,
      minZoomImageRatio: 0.5, visibilityRatio: 0.2, gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
      keyboardNavEnabled: false,
    });
    view.querySelectorAll("canvas, [tabindex]").forEach((node) => node.setAttribute("tabindex", "-1"));
    viewer.addHandler("open", () => {
      drawBox(viewer, pane);
      if (state.at && state.lock && pane.origin) lead(() => showPlace(viewer, pane, state.at));
      view.dataset.ready = "yes";
    });
    viewer.addHandler("viewport-change", () => {
      if (pane.origin) view.dataset.at = place(viewer, pane).map((edge) => edge.toFixed(1)).join(",");
      follow(index);
    });
    viewer.addHandler("tile-load-failed", (event) => { view.dataset.failed = String(event.message || "yes"); });
    return viewer;
  }

  function shownAs(pane) {
    const words = state.seen ? (pane.seen ? " · shown as seen" : " · seen size not known, shown as sent") : "";
    const shown = (state.seen && pane.seen) || pane.sent;
    return shown && shown.exact === false ? `${words} · shrunk for this site to ${shown.width}×${shown.height}` : words;
  }

  // A viewer's own units: 1 is the width of what it shows, which a model may have seen squeezed.
  function unit(pane) {
    const shown = (state.seen && pane.seen) || pane.sent;
    return [pane.width, (pane.height * shown.width) / shown.height];
  }

  function rect(pane, [x, y, width, height]) {
    const [across, down] = unit(pane);
    return new OpenSeadragon.Rect(x / across, y / down, width / across, height / down);
  }

  function drawBox(viewer, pane) {
    if (!pane.target || !state.box) return;
    const element = document.createElement("div");
    element.className = "target-box";
    const [x0, y0, x1, y1] = pane.target;
    viewer.addOverlay({ element, location: rect(pane, [x0, y0, x1 - x0, y1 - y0]) });
  }

  // --- moving together: a place is x, y, width, height in pixels of the original -------------------------------------

  function place(viewer, pane) {
    const seen = viewer.viewport.getBounds(true);
    const [across, down] = unit(pane);
    return [
      pane.origin[0] + (seen.x * across) / pane.scale[0], pane.origin[1] + (seen.y * down) / pane.scale[1],
      (seen.width * across) / pane.scale[0], (seen.height * down) / pane.scale[1],
    ];
  }

  function showPlace(viewer, pane, at) {
    viewer.viewport.fitBounds(rect(pane, [
      (at[0] - pane.origin[0]) * pane.scale[0], (at[1] - pane.origin[1]) * pane.scale[1],
      at[2] * pane.scale[0], at[3] * pane.scale[1],
    ]), true);
  }

  function lead(move) {
    leading = true;
    move();
    leading = false;
  }

  function follow(index) {
    const pane = byCondition.get(state.panes[index]);
    if (leading || !pane.origin || !viewers[index]) return;
    const isMoved = viewers[index].element.dataset.ready === "yes" && viewers[index].element.dataset.touched === "yes";
    if (!isMoved) return;
    const at = place(viewers[index], pane);
    if (state.lock) {
      lead(() => viewers.forEach((viewer, other) => {
        const its = byCondition.get(state.panes[other]);
        if (other !== index && viewer && its.origin && viewer.element.dataset.ready === "yes") showPlace(viewer, its, at);
      }));
    }
    state.at = at;
    clearTimeout(saving);
    saving = setTimeout(() => writeState(state, false), 200);
  }

  for (const name of ["pointerdown", "wheel", "touchstart"]) {
    room.addEventListener(name, (event) => touch(event.target.closest(".pane-view")), { capture: true, passive: true });
  }

  function touch(view) {
    // Only the pane that the reader moves leads; what it moves does not lead back.
    if (!view) return;
    room.querySelectorAll(".pane-view").forEach((one) => { one.dataset.touched = one === view ? "yes" : "no"; });
  }

  function moveFirst(move) {
    const index = Math.max(0, viewers.findIndex((viewer) => viewer && viewer.element.dataset.touched === "yes"));
    const viewer = viewers[index] || viewers.find(Boolean);
    if (!viewer) return;
    touch(viewer.element);
    move(viewer, byCondition.get(state.panes[viewers.indexOf(viewer)]));
  }

  // --- tools and answers ------------------------------------------------------------------------------------------------

  function change(changed) {
    state = { ...state, ...changed };
    writeState(state, true);
    if ("panes" in changed || "seen" in changed) build();
    else adjust();
  }

  function adjust() {
    viewers.forEach((viewer, index) => {
      if (!viewer) return;
      viewer.clearOverlays();
      drawBox(viewer, byCondition.get(state.panes[index]));
    });
    showTools();
  }

  function showTools() {
    const anySeen = state.panes.some((key) => byCondition.get(key).seen);
    for (const name of ["lock", "box", "seen"]) tool(name).setAttribute("aria-pressed", String(state[name]));
    tool("seen").disabled = !anySeen;
    tool("seen").title = anySeen ? "" : "what the model saw of these pictures is not known";
    tool("add").disabled = state.panes.length > 3 || state.panes.length >= keys.length;
    tool("remove").disabled = state.panes.length < 2;
  }

  function tool(name) {
    return document.querySelector(`[data-tool="${name}"]`);
  }

  const tools = {
    lock: () => change({ lock: !state.lock }),
    box: () => change({ box: !state.box }),
    seen: () => { if (!tool("seen").disabled || state.seen) change({ seen: !state.seen }); },
    home: () => { state.at = null; viewers.forEach((viewer) => viewer && lead(() => viewer.viewport.goHome(true))); writeState(state, false); },
    in: () => moveFirst((viewer) => viewer.viewport.zoomBy(1.6)),
    out: () => moveFirst((viewer) => viewer.viewport.zoomBy(1 / 1.6)),
    target: () => moveFirst((viewer, pane) => {
      if (!pane.target) return;
      const [x0, y0, x1, y1] = pane.target;
      viewer.viewport.fitBounds(rect(pane, [2 * x0 - x1, 2 * y0 - y1, 3 * (x1 - x0), 3 * (y1 - y0)]));
    }),
    add: () => {
      const next = keys.find((key) => !state.panes.includes(key));
      if (next && state.panes.length < 4) change({ panes: [...state.panes, next] });
    },
    remove: () => { if (state.panes.length > 1) change({ panes: state.panes.slice(0, -1) }); },
  };

  document.querySelectorAll("[data-tool]").forEach((button) => button.addEventListener("click", tools[button.dataset.tool]));

  function showAnswers() {
    const shown = state.panes.map((key) => byCondition.get(key).condition);
    document.querySelectorAll(".answer").forEach((answer) => {
      const column = shown.indexOf(answer.dataset.condition);
      answer.hidden = column < 0;
      answer.style.gridColumn = String(column + 1);
    });
    document.querySelectorAll(".history [data-pane]").forEach((link) => {
      link.closest("td").classList.toggle("shown", shown.includes(link.dataset.pane));
    });
  }

  document.querySelectorAll(".history [data-pane]").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    showRight(keyOf(link.dataset.pane));
  }));

  function showRight(key) {
    if (key) change({ panes: state.panes.with(-1, key) });
  }

  // --- stepping through the choice ---------------------------------------------------------------------------------------

  function carry() {
    // Panes and switches go along to the next question; the place does not, since it belongs to this picture.
    const words = new URLSearchParams(location.hash.slice(1));
    words.delete("at");
    document.querySelectorAll("[data-step]").forEach((link) => { link.href = link.href.split("#")[0] + "#" + words.toString().replaceAll("%2C", ","); });
  }

  function stepStatic() {
    // A static site has no server to say what comes next: the order came along from the grid.
    if (!isStatic) return;
    let listed = null;
    try { listed = JSON.parse(sessionStorage.getItem("eyechart-choice") || "null"); } catch { listed = null; }
    if (!listed || !listed.pages.includes(data.page)) return;
    const at = listed.pages.indexOf(data.page);
    document.querySelector("[data-place]").textContent = `${at + 1} of ${listed.pages.length}`;
    const back = document.querySelector("[data-back]");
    if (back) back.href = back.href.split("#")[0] + "#" + listed.query;
    for (const [name, page] of [["previous", listed.pages[at - 1]], ["next", listed.pages[at + 1]]]) {
      let link = document.querySelector(`[data-step="${name}"]`);
      if (!page && link) link.remove();
      if (page && !link) {
        link = document.createElement("a");
        link.dataset.step = name;
        link.textContent = name === "next" ? "next (j)" : "previous (k)";
        document.querySelector(".kicker").append(" · ", link);
      }
      if (page && link) link.href = page;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const step = { j: "next", k: "previous" }[event.key];
    if (step) {
      const link = document.querySelector(`[data-step="${step}"]`);
      if (link) location.href = link.href;
      return;
    }
    const named = { l: "lock", b: "box", s: "seen", t: "target", h: "home", "+": "in", "=": "in", "-": "out", a: "add", r: "remove" }[event.key];
    if (named) tools[named]();
    else if (/^[1-9]$/.test(event.key)) showRight(keys[Number(event.key) - 1]);
    else if (event.key === "[" || event.key === "]") {
      const at = keys.indexOf(state.panes.at(-1)) + (event.key === "]" ? 1 : -1);
      showRight(keys[(at + keys.length) % keys.length]);
    } else return;
    event.preventDefault();
  });

  window.addEventListener("popstate", () => { state = readState(); build(); carry(); });
  stepStatic();
  build();
  carry();
})();

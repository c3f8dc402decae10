// Two models side by side: deep zoom into a picture, Refresh by key. Which picture is zoomed stands behind #.
"use strict";
const eyechartPair = (() => {
  const viewers = new Map();

  function source(shown) {
    if (shown.url) return { type: "image", url: shown.url, buildPyramid: false };
    return {
      width: shown.width, height: shown.height, tileSize: shown.tile, tileOverlap: 0, minLevel: 0, maxLevel: shown.max,
      getTileUrl: (level, x, y) => `${shown.base}/${level}/${x}_${y}.png`,
    };
  }

  function open(frame) {
    if (viewers.has(frame)) return;
    const room = document.createElement("div");
    room.className = "pane-view";
    frame.prepend(room);
    frame.classList.add("zoomed");
    const viewer = OpenSeadragon({
      element: room, tileSources: source(JSON.parse(frame.querySelector("script").textContent)), drawer: "canvas",
      prefixUrl: "", showNavigationControl: false, imageSmoothingEnabled: false, crossOriginPolicy: false,
      animationTime: 0.25, maxZoomPixelRatio: 48, minZoomImageRatio: 0.5, visibilityRatio: 0.2,
      gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
    });
    const canvas = room.querySelector(".openseadragon-canvas");
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", `${frame.querySelector("img").alt}; plus and minus zoom, arrows move`);
    viewer.addHandler("open", () => { room.dataset.ready = "yes"; canvas.focus({ preventScroll: true }); });
    viewers.set(frame, viewer);
    label(frame);
  }

  function close(frame) {
    const viewer = viewers.get(frame);
    if (!viewer) return;
    viewers.delete(frame);
    viewer.destroy();
    frame.querySelector(".pane-view").remove();
    frame.classList.remove("zoomed");
    label(frame);
  }

  function label(frame) {
    const button = frame.querySelector("[data-zoom]");
    button.setAttribute("aria-expanded", String(viewers.has(frame)));
    button.textContent = viewers.has(frame) ? "Close" : "Zoom";
  }

  function words() {
    return new URLSearchParams(location.hash.slice(1));
  }

  function follow() {
    // What left the page has no viewer any more.
    for (const frame of [...viewers.keys()]) if (!frame.isConnected) { viewers.get(frame).destroy(); viewers.delete(frame); }
    const wanted = words().get("zoom");
    for (const frame of document.querySelectorAll(".pair-picture")) (frame.dataset.id === wanted ? open : close)(frame);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (!button) return;
    const frame = button.closest(".pair-picture");
    const state = words();
    if (viewers.has(frame)) state.delete("zoom");
    else state.set("zoom", frame.dataset.id);
    location.hash = state.toString();
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.key !== "n") return;
    if (event.target.closest("input, select, textarea")) return;
    document.getElementById("refresh").click();
    event.preventDefault();
  });

  const form = document.getElementById("pair-form");
  if (form && document.body.dataset.static !== "yes") {
    form.addEventListener("change", (event) => {
      // Another model may know neither the view nor the values that were chosen.
      if (["first", "second"].includes(event.target.name)) {
        for (const name of ["view", "dataset", "category"]) if (form.elements[name]) form.elements[name].disabled = true;
      }
      form.requestSubmit();
    });
    // What chooses nothing is left out of the address.
    form.addEventListener("submit", () => {
      for (const control of form.elements) if (control.value === "" && control.name) control.disabled = true;
    });
    window.addEventListener("pageshow", () => { for (const control of form.elements) control.disabled = false; });
  }
  window.addEventListener("hashchange", follow);
  if (document.body.dataset.static !== "yes") follow();
  return { follow };
})();

// Puts an interactive chart in front of each still picture: values on hover and by the arrow keys, no eval, no loading.
"use strict";
(() => {
  const reach = "600px"; // how far below the window a chart is made, so that it is there when it comes into view
  let number = 0;

  function add(parent, tag, attributes, text) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    parent.append(element);
    return element;
  }

  // --- what a value says ------------------------------------------------------------------------------------------

  const tip = add(document.body, "div", { class: "tip", "aria-hidden": "true" });
  tip.hidden = true;

  function fill(words) {
    tip.replaceChildren();
    for (const [name, value] of Object.entries(words)) {
      if (!value) continue;
      const line = add(tip, "div", {});
      add(line, "span", {}, name);
      add(line, "b", {}, value);
    }
  }

  function place(event) {
    const room = 14;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + room, innerWidth - width - 6);
    const below = event.clientY + room + height < innerHeight;
    tip.style.left = `${Math.max(6, left)}px`;
    tip.style.top = `${below ? event.clientY + room : Math.max(6, event.clientY - room - height)}px`;
  }

  const sentence = (words) =>
    Object.entries(words).filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`).join("; ");

  // The words of a row under the titles of its chart's tooltip.
  function titled(spec, row) {
    const layers = spec.layer.filter((layer) => layer.encoding && Array.isArray(layer.encoding.tooltip));
    return Object.fromEntries(layers[0].encoding.tooltip.map((part) => [part.title, String(row[part.field] ?? "")]));
  }

  // --- one chart --------------------------------------------------------------------------------------------------

  function make(script) {
    const spec = JSON.parse(script.textContent);
    const figure = script.closest("figure");
    const title = figure.querySelector("figcaption").textContent;
    const rows = spec.data.values;
    const id = `reading-${++number}`;
    const room = add(script.parentElement, "div", {
      class: "chart", tabindex: "0", role: "group", "aria-describedby": id,
      "aria-label": `Values of: ${title}. ${rows.length} values; the arrow keys go from one to the next.`,
    });
    const reading = add(script.parentElement, "p", { class: "reading", id, role: "status" },
      "To read a value, point at it or use the arrow keys.");
    room.after(reading);
    const compiled = vegaLite.compile(spec, { logger: vega.logger(vega.Warn) }).spec;
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vegaInterpreter.expressionInterpreter, renderer: "svg", container: room, hover: true,
      logLevel: vega.Warn,
      // Nothing is ever loaded, and no text of the data becomes a link.
      loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
    });
    view.tooltip((handler, event, item, value) => {
      tip.hidden = !value;
      if (!value) return pick(-1);
      fill(value);
      place(event);
      return pick(item.datum.at);
    });
    let picked = -1;
    function pick(at, isSaid) {
      if (at === undefined || at === picked) return;
      picked = at;
      view.signal("picked", at).runAsync();
      if (at >= 0) {
        reading.textContent = sentence(titled(spec, rows[at]));
        reading.dataset.at = String(at);
      }
      if (isSaid) tip.hidden = true;
    }
    room.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const end = { Home: 0, End: rows.length - 1 }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") { tip.hidden = true; pick(-1); return; }
      if (step === undefined && end === undefined) return;
      event.preventDefault();
      pick(end ?? Math.min(rows.length - 1, Math.max(0, picked + step)), true);
    });
    room.addEventListener("pointerleave", () => { tip.hidden = true; pick(-1); });
    room.addEventListener("blur", () => pick(-1));
    return view.runAsync().then(() => {
      // The still picture has the numbers in words; marks without words would only be noise.
      room.querySelectorAll("svg").forEach((drawing) => drawing.setAttribute("aria-hidden", "true"));
    });
  }

  const refuse = () => Promise.reject(new Error("a report loads nothing"));

  // --- one figure -------------------------------------------------------------------------------------------------

  function open(figure) {
    if (figure.dataset.charts) return;
    figure.dataset.charts = "on";
    const button = add(figure, "button", { type: "button", class: "switch", "aria-pressed": "true" }, "interactive");
    figure.querySelector("figcaption").after(button);
    button.setAttribute("aria-label", `interactive: ${figure.querySelector("figcaption").textContent}`);
    button.addEventListener("click", () => {
      const isOn = figure.dataset.charts !== "on";
      figure.dataset.charts = isOn ? "on" : "off";
      button.setAttribute("aria-pressed", String(isOn));
      if (isOn) dispatchEvent(new Event("resize")); // a hidden chart has no width
    });
    Promise.all([...figure.querySelectorAll("script.spec")].map(make)).then(
      () => { figure.dataset.ready = "yes"; },
      (error) => { figure.dataset.charts = "off"; button.remove(); console.error(error); },
    );
  }

  // --- what can be copied -----------------------------------------------------------------------------------------

  for (const shown of document.querySelectorAll("pre.copied")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    shown.before(button);
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(shown);
      try {
        await navigator.clipboard.writeText(shown.textContent);
        button.textContent = "copied";
      } catch {
        button.textContent = "selected: copy with the keyboard";
      }
    });
  }

  const figures = [...document.querySelectorAll("figure")].filter((figure) => figure.querySelector("script.spec"));
  const watcher = new IntersectionObserver((seen) => {
    for (const one of seen) {
      if (one.isIntersecting) {
        watcher.unobserve(one.target);
        open(one.target);
      }
    }
  }, { rootMargin: reach });
  figures.forEach((figure) => watcher.observe(figure));
})();

"use strict";
(async () => {
  // a page of a site names the file of Plotly, which is loaded beside everything else; a single page contains it
  const file = document.currentScript.dataset.plotly;
  const plotly = file ? new Promise((ready, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: file, onload: ready, onerror: failed });
    document.head.append(script);
  }) : Promise.resolve();
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(unpacked).text());
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = () => window.innerWidth < 600;
  const RUNS = ["seed", "outcome", "solved at", "best step", "test error", "validation error", "sparsity", "threshold", "seconds", "formula", "how it ended"];

  function dressed(layout) {
    const ink = dark.matches ? "#e7e9ea" : "#1a1c1e", line = dark.matches ? "#34383c" : "#e3e6e8";
    const copy = JSON.parse(JSON.stringify(layout));
    copy.paper_bgcolor = copy.plot_bgcolor = "rgba(0,0,0,0)";
    copy.font = { color: ink, family: "system-ui, sans-serif", size: narrow() ? 10 : 12 };
    copy.modebar = { bgcolor: "rgba(0,0,0,0)", color: "#8a8f94", activecolor: ink };
    for (const key of Object.keys(copy)) if (/^[xy]axis/.test(key)) copy[key] = { gridcolor: line, linecolor: line, automargin: true, ...copy[key] };
    return copy;
  }
  const settings = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };

  function numbers(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  }
  const find = (node) => {
    const experiment = data.experiments[+node.dataset.experiment];
    return { experiment, group: experiment.panels[+node.dataset.group] };
  };
  const at = (path) => path.split(".").reduce((value, key) => value[key], data);
  const cellOf = (group, key) => group.cells.find((c) => c.case === key);

  function bundle(block, steps, flat) {
    // the curves of all seeds in one trace, separated by gaps
    const x = [], y = [];
    for (let run = 0; run * steps.length < flat.length; run++) {
      for (let i = 0; i < steps.length; i++) { x.push(steps[i]); y.push(flat[run * steps.length + i]); }
      x.push(null); y.push(null);
    }
    return { x, y };
  }

  function curves(node, key) {
    const { experiment, group } = find(node);
    const block = experiment.curves.cases[key], cell = cellOf(group, key), look = data.looks[cell.unit];
    const layout = dressed({ height: 300, margin: { l: 60, r: 18, t: 30, b: 40 }, title: { text: block ? `test error of ${block.seeds.length} of ${experiment.runs[key].length} runs` : "test error", font: { size: 13 } }, showlegend: false,
      xaxis: { title: { text: "step" } }, yaxis: { type: "log", exponentformat: "power" } });
    if (!block) { layout.annotations = [{ text: "no curves here", showarrow: false }]; return Plotly.react(node, [], layout, settings); }
    const traces = [{ ...bundle(block, experiment.curves.steps[block.steps], numbers(block.test)), type: "scatter", mode: "lines", line: { width: 0.7, color: look[0] }, hoverinfo: "skip" }];
    const limit = experiment.runs[key][0][7];
    traces.push({ x: [0, Math.max(...experiment.curves.steps[block.steps])], y: [limit, limit], mode: "lines", line: { dash: "dot", width: 1, color: "#888" }, hovertemplate: "threshold %{y:.3g}<extra></extra>" });
    return Plotly.react(node, traces, layout, settings);
  }

  function paths(node, key) {
    const { experiment, group } = find(node);
    const block = experiment.curves.cases[key];
    const seeds = block ? Object.keys(block.moving) : [];
    const layout = dressed({ height: 300, margin: { l: 50, r: 8, t: 30, b: 64 }, title: { text: seeds.length > 1 ? `weights of seeds ${seeds[0]} to ${seeds[seeds.length - 1]}` : seeds.length ? `weights of seed ${seeds[0]}` : "weights", font: { size: 13 } },
      xaxis: { title: { text: "step" } }, yaxis: {}, showlegend: !!block && block.weights.length <= 8, legend: { orientation: "h", y: -0.24, font: { size: 10 } } });
    if (!seeds.length) { layout.annotations = [{ text: "no weights were kept", showarrow: false }]; return Plotly.react(node, [], layout, settings); }
    const steps = experiment.curves.steps[block.steps], palette = Object.values(data.looks).map((l) => l[0]);
    const traces = block.weights.map((name, w) => {
      const x = [], y = [];
      for (const seed of seeds) {
        const flat = numbers(block.moving[seed]);
        for (let i = 0; i < steps.length; i++) { x.push(steps[i]); y.push(flat[w * steps.length + i]); }
        x.push(null); y.push(null);
      }
      return { x, y, type: "scatter", mode: "lines", name, line: { width: 1, color: palette[w % palette.length] } };
    });
    return Plotly.react(node, traces, layout, settings);
  }

  function text(value) {
    if (value === null || value === undefined) return "–";
    if (typeof value === "number" && !Number.isInteger(value)) return Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? value.toExponential(3) : String(+value.toPrecision(4));
    return String(value);
  }
  // the curve and the weights of one run, below the table of runs
  function look(experiment, key, seed) {
    const block = experiment.curves.cases[key], box = document.querySelector("#runs .run"), at = block ? block.seeds.indexOf(seed) : -1;
    box.replaceChildren();
    const heading = document.createElement("h4");
    heading.textContent = at < 0 ? `Seed ${seed}: no curve was kept of this run.` : `Seed ${seed}`;
    box.append(heading);
    if (at < 0) return;
    const steps = experiment.curves.steps[block.steps], n = steps.length;
    const plot = (traces, text, more) => {
      const node = document.createElement("div");
      box.append(node);
      plotly.then(() => Plotly.newPlot(node, traces, dressed({ height: 240, margin: { l: 60, r: 8, t: 28, b: 36 }, title: { text, font: { size: 13 } }, xaxis: { title: { text: "step" } }, ...more }), settings));
    };
    plot([{ x: steps, y: Array.from(numbers(block.test).slice(at * n, (at + 1) * n)), type: "scatter", mode: "lines" }], "test error", { yaxis: { type: "log", exponentformat: "power" } });
    if (!block.moving[seed]) return;
    const flat = numbers(block.moving[seed]);
    plot(block.weights.map((name, w) => ({ x: steps, y: Array.from(flat.slice(w * n, (w + 1) * n)), name, type: "scatter", mode: "lines" })), "weights", { legend: { orientation: "h", font: { size: 10 } } });
    box.scrollIntoView({ block: "nearest" });
  }
  // rows are triples: experiment, case, values
  function show(title, rows) {
    const dialog = document.getElementById("runs"), table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of RUNS) { const th = document.createElement("th"); th.textContent = name; head.append(th); }
    const body = table.createTBody();
    for (const [experiment, key, row] of rows) {
      const tr = body.insertRow();
      for (const value of row) tr.insertCell().textContent = text(value);
      tr.addEventListener("click", () => look(experiment, key, row[0]));
    }
    dialog.querySelector("h3").textContent = title;
    dialog.querySelector(".wide").replaceChildren(table);
    dialog.querySelector(".run").replaceChildren();
    dialog.showModal();
  }
  function showCase(key) {
    for (const experiment of data.experiments) {
      if (!(key in experiment.runs)) continue;
      for (const group of experiment.panels) {
        const cell = cellOf(group, key);
        if (cell) return show(`${cell.unit}, ${group.operation}, ${cell.range}: ${experiment.runs[key].length}${cell.success.n > experiment.runs[key].length ? ` of ${cell.success.n}` : ""} runs`, experiment.runs[key].map((row) => [experiment, key, row]));
      }
    }
  }

  function arrows(rows) {
    // one trace: from, to, gap; only the end has a head
    const x = [], y = [], size = [];
    for (const [fromX, fromY, toX, toY] of rows) { x.push(fromX, toX, null); y.push(fromY, toY, null); size.push(0, 6, 0); }
    return { type: "scatter", mode: "lines+markers", x, y, line: { width: 0.6, color: "#d55e00" }, hoverinfo: "skip", showlegend: false,
      marker: { symbol: "arrow", angleref: "previous", size, color: "#d55e00" } };
  }

  function surface(node, solid) {
    const l = at(node.dataset.path);
    const height = (v) => {
      if (v === null) return null;
      const kept = l.clip ? Math.min(Math.max(v, l.clip[0]), l.clip[1]) : v;
      return l.log ? Math.log10(Math.max(kept, 1e-12)) : kept;
    };
    const z = l.z && l.z.map((row) => row.map(height)), what = l.log ? "log10" : "";
    let traces, layout = { height: 320, margin: { l: 50, r: 8, t: 8, b: 40 }, xaxis: { title: { text: l.x_label } }, yaxis: { title: { text: l.y_label } } };
    if (l.series) {
      traces = Object.entries(l.series).map(([name, y]) => ({ x: l.x, y, name, type: "scatter", mode: "lines" }));
      layout.legend = { orientation: "h", yref: "container", y: 1 - 20 / layout.height, yanchor: "top" }; // below the icons
    } else if (solid) {
      traces = [{ type: "surface", x: l.x, y: l.y, z, colorscale: "Viridis", showscale: false }];
      layout.scene = { xaxis: { title: { text: l.x_label } }, yaxis: { title: { text: l.y_label } } };
    } else {
      traces = [{ type: "heatmap", x: l.x, y: l.y, z, colorscale: "Viridis", colorbar: { thickness: 10, title: { text: what } }, hovertemplate: "%{x:.3g}, %{y:.3g}: %{z:.3g}<extra></extra>" }];
      if (l.minima.length) traces.push({ type: "scatter", mode: "markers", x: l.minima.map((m) => m.x), y: l.minima.map((m) => m.y), marker: { color: "#d55e00", symbol: "x", size: 9 }, hovertemplate: "minimum (%{x:.4g}, %{y:.4g})<extra></extra>", showlegend: false });
      if (l.arrows.length) traces.push(arrows(l.arrows));
      layout.shapes = l.boxes.map(([low, high, color]) => ({ type: "rect", x0: low, y0: low, x1: high, y1: high, line: { color, width: 2 } }));
    }
    return Plotly.newPlot(node, traces, dressed(layout), settings);
  }

  function panel(node) {
    const { group } = find(node), layout = dressed(group.figure.layout);
    if (narrow()) layout.legend = { orientation: "h", y: -0.22, font: { size: 10 } };
    return Plotly.react(node, group.figure.data, layout, settings).then(() => {
      if (!node.bound) { node.bound = true; node.on("plotly_click", (e) => showCase(e.points[0].customdata)); }
    });
  }
  function given(node) {
    const figure = at(node.dataset.path);
    return Plotly.react(node, figure.data, dressed(figure.layout), settings);
  }
  const chosen = (node) => node.closest(".group").querySelector("select.case").value;
  const KINDS = { panels: panel, given, surface: (node) => surface(node, false), curves: (node) => curves(node, chosen(node)), paths: (node) => paths(node, chosen(node)) };
  const height = (node) => node.matches(".panels") ? find(node).group.figure.layout.height : node.matches(".given") ? at(node.dataset.path).layout.height : node.matches(".surface") ? 320 : 300;
  // a figure is drawn when it comes near the window; its place is kept free until then
  const drawn = new Map();
  function draw(node) {
    const kind = Object.keys(KINDS).find((name) => node.classList.contains(name));
    near.unobserve(node);
    drawn.set(node, KINDS[kind](node));
    return drawn.get(node);
  }
  const waiting = () => [...document.querySelectorAll(".figure")].filter((node) => !drawn.has(node));
  const near = new IntersectionObserver((entries) => {
    Promise.all(entries.filter((e) => e.isIntersecting).map((e) => draw(e.target))).then(() => document.body.setAttribute("data-drawn", "yes"));
  }, { rootMargin: "200px" });
  function choose(select) {
    for (const node of select.closest(".group").querySelectorAll(".curves, .paths")) draw(node);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("rotate")) {
      const node = button.closest(".landscape").querySelector(".surface"), solid = button.textContent === "rotate";
      plotly.then(() => surface(node, solid)); button.textContent = solid ? "flat" : "rotate";
    } else if (button.dataset.case) showCase(button.dataset.case);
    else if (button.dataset.kind) {
      const experiment = data.experiments[+button.dataset.experiment];
      const all = Object.entries(experiment.runs).flatMap(([key, rows]) => rows.map((row) => [experiment, key, row]));
      show(button.dataset.kind, all.filter(([, , row]) => row[10] === button.dataset.kind));
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.classList.contains("case")) plotly.then(() => choose(event.target));
    if (event.target.id === "operation") {
      const wanted = event.target.value;
      for (const node of document.querySelectorAll("[data-operation]")) node.hidden = !!wanted && node.dataset.operation !== wanted;
      for (const section of document.querySelectorAll("section.experiment")) {
        const groups = [...section.querySelectorAll(".group")];
        section.hidden = groups.length > 0 && groups.every((g) => g.hidden);
      }
    }
  });
  dark.addEventListener("change", () => [...drawn.keys()].forEach(draw));
  window.addEventListener("beforeprint", () => plotly.then(() => waiting().forEach(draw)));
  for (const node of waiting()) node.style.minHeight = `${height(node) || 300}px`;
  const linked = new URLSearchParams(location.hash.slice(1)).get("case"); // a link from the overview of a site
  if (linked) showCase(linked);
  await plotly;
  waiting().forEach((node) => near.observe(node));
  if (!document.querySelector(".figure")) document.body.setAttribute("data-drawn", "yes");
})();

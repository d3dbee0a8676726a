"use strict";
// Plotly takes longest to compile; the browser keeps it, so that figures of the next page are drawn at once
window.addEventListener("load", () => setTimeout(() => {
  const script = document.createElement("script");
  script.src = "assets/plotly.js";
  document.head.append(script);
}, 300));
(() => {
  const inputs = document.getElementById("inputs");
  if (inputs) inputs.addEventListener("change", () => {
    for (const block of document.querySelectorAll("[data-inputs]")) block.hidden = block.dataset.inputs !== inputs.value;
  });
  const form = document.querySelector("form.filters");
  if (!form) return;
  const rows = [...document.querySelectorAll("#experiments tbody tr")];
  const choices = [...form.querySelectorAll("[data-filter]")], search = document.getElementById("search");
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = `${row.textContent} ${row.dataset.units} ${row.dataset.operations}`.toLowerCase();
      const fits = choices.every((c) => !c.value || JSON.parse(row.dataset[c.dataset.filter]).includes(c.value));
      row.hidden = !fits || !words.every((w) => text.includes(w));
      shown += !row.hidden;
    }
    document.getElementById("none").hidden = shown > 0;
  }
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();

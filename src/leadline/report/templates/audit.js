"use strict";
// Filters over the items, and addresses: #item=ID opens an item, #items?failure=... sets filters.
(() => {
  const byId = (id) => document.getElementById(id);
  const items = [...document.querySelectorAll("details.audited")];
  const names = ["show", "failure", "category", "type", "state", "search"];
  const field = Object.fromEntries(names.map((name) => [name, byId(`f-${name}`)]));
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const texts = new Map();
  const haystack = (item) => {
    if (!texts.has(item)) texts.set(item, plain(item.textContent));
    return texts.get(item);
  };

  // A window is opened at the first place that the quote, or what is nearest to it, was found at.
  for (const item of items)
    item.addEventListener("toggle", () => {
      const box = item.querySelector(".window"), found = box && box.querySelector("mark, .near");
      if (!item.open || !found || box.scrollTop) return;
      box.scrollTop = Math.max(0, found.offsetTop - box.offsetTop - box.clientHeight / 3);
    });

  function render() {
    if (!items.length) return;
    const needle = plain(field.search.value.trim());
    let shown = 0;
    for (const item of items) {
      const fits = (field.show.value !== "flagged" || item.classList.contains("is-flagged"))
        && (field.show.value !== "remarked" || "remarked" in item.dataset)
        && ["failure", "category", "type", "state"].every((name) => !field[name].value || item.dataset[name] === field[name].value)
        && (!needle || haystack(item).includes(needle));
      item.hidden = !fits;
      shown += fits;
    }
    const all = items.length === 1 ? "1 item" : `${items.length} items`;
    byId("item-count").textContent = shown === items.length ? `All ${all}` : shown ? `${shown} of ${all}` : `0 of ${all}: no item fits these filters.`;
  }

  function setFilters(values) {
    for (const name of names) {
      const wanted = values.get(name) || "";
      field[name].value = wanted;
      if (field[name].value !== wanted) field[name].value = "";
    }
    render();
  }

  function follow() {
    const hash = location.hash.slice(1);
    if (hash.startsWith("item=")) {
      let id = hash.slice(5);
      try { id = decodeURIComponent(id); } catch { /* not percent-encoded: take it as it is */ }
      const item = items.find((one) => one.dataset.item === id);
      if (!item) return;
      if (item.hidden) setFilters(new Map());
      item.open = true;
      item.scrollIntoView();
      item.querySelector("summary").focus({ preventScroll: true });
    } else if (hash.startsWith("items?") && items.length) {
      setFilters(new URLSearchParams(hash.slice(6)));
      byId("items").scrollIntoView();
    }
  }

  if (items.length) {
    let waiting = 0;
    for (const control of Object.values(field))
      control.addEventListener(control === field.search ? "input" : "change", () => {
        clearTimeout(waiting);
        waiting = setTimeout(render, control === field.search ? 120 : 0);
      });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("f-reset").addEventListener("click", () => setFilters(new Map()));
  }
  addEventListener("hashchange", follow);
  // A second click on the same link does not change the address, but should still work.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  render();
  if (location.hash) follow();
})();

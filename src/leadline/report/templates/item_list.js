"use strict";
// Filters over the items, and addresses: #item=ID opens an item, #items?failure=... sets filters.
(() => {
  const byId = (id) => document.getElementById(id);
  const items = [...document.querySelectorAll("details.audited")];
  const field = Object.fromEntries([...document.querySelectorAll("#filters select, #filters input")].map((control) => [control.id.slice(2), control]));
  const names = Object.keys(field);
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
      const fits = names.every((name) => {
        const wanted = field[name].value;
        if (name === "search") return !needle || haystack(item).includes(needle);
        return !wanted || (name === "show" ? item.dataset.show.split(" ").includes(wanted) : item.dataset[name] === wanted);
      });
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

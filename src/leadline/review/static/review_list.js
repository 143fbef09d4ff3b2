// The pages of a review that are no entries: a list that is searched, and the form for a reader's name.
"use strict";
(() => {
  const { api } = window.leadline;
  const find = (what, root = document) => root.querySelector(what);
  const all = (what, root = document) => [...root.querySelectorAll(what)];

  for (const list of all("[data-filter]")) {
    list.addEventListener("input", () => {
      const words = list.value.toLowerCase().split(/\s+/), rows = all("li", find(list.dataset.filter));
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      find("[data-filtered]").textContent = `${rows.filter((row) => !row.hidden).length} shown`;
    });
  }
  find("[data-reader-form]")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = find("[data-reader-problem]");
    const answer = await api("POST", "/api/reader", { name: event.target.elements.name.value })
      .catch(() => ({ status: 0, body: { error: "the server is away" } }));
    if (answer.status === 200) { location.assign(event.target.dataset.then); return; }
    problem.hidden = false;
    problem.textContent = answer.body.error;
  });
})();

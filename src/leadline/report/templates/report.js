"use strict";
// The item browser. Text from the study is only ever set as text.
(() => {
  const byId = (id) => document.getElementById(id);

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  // Items.
  const data = JSON.parse(byId("data").textContent);
  const PAGE = 25;
  const CONF = 0, SAID = 1, RIGHT = 2, VOTES = 3, ASKED = 4, UNSTABLE = 5, GROUPS = 6;
  const field = { model: byId("f-model"), show: byId("f-show"), method: byId("f-method"), depth: byId("f-depth"), category: byId("f-category"), search: byId("f-search") };
  let page = 0;
  const opened = new Set();
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const label = (configuration) => data.configurations[configuration].label;
  // Right is 1, 0, or -1 where every call failed: such an item is compared with nothing.
  const find = (rows, configuration) => rows.find((row) => row[CONF] === configuration);
  const answered = (row) => row && row[RIGHT] >= 0;

  data.models.forEach((name) => field.model.append(el("option", { value: name }, name)));
  data.methods.forEach((method) => field.method.append(el("option", { value: data.configurations[method].name }, label(method))));
  for (const depth of ["shallow", "deep"])
    for (const tau of data.temperatures) field.depth.append(el("option", { value: `${depth}@${tau}` }, `${depth} at τ = ${tau}`));
  [...new Set(data.items.map((item) => item.category).filter(Boolean))].sort().forEach((name) => field.category.append(el("option", { value: name }, name)));
  byId("f-model-box").hidden = data.models.length < 2;
  byId("f-depth-box").hidden = data.temperatures.length === 0;
  byId("f-category-box").hidden = field.category.options.length < 2;
  // Without a baseline nothing is recovered or broken, and no method is judged.
  if (data.baseline < 0) for (const option of [...field.show.options]) if (!["all", "unstable"].includes(option.value)) option.remove();
  byId("f-method-box").hidden = data.methods.length === 0;

  const haystacks = new Map();
  function haystack(item) {
    if (!haystacks.has(item)) {
      const said = new Set();
      for (const rows of Object.values(item.of))
        for (const row of rows)
          for (const group of row[GROUPS]) {
            if (group[0] >= 0) said.add(group[0]);
            for (const [text] of group[4]) said.add(text);
          }
      haystacks.set(item, plain([item.id, item.question, ...item.answers, item.category, item.task, ...[...said].map((at) => data.texts[at])].join("\n")));
    }
    return haystacks.get(item);
  }

  function selected() {
    const model = field.model.value, show = field.show.value, needle = plain(field.search.value.trim());
    const [depth, tau] = field.depth.value.split("@");
    const one = data.configurations.findIndex((entry) => entry.name === field.method.value);
    const methods = one < 0 ? data.methods : [one];
    return data.items.filter((item) => {
      const rows = item.of[model] || [];
      const base = find(rows, data.baseline), compared = answered(base);
      const judged = methods.map((method) => find(rows, method)).filter(answered);
      if (show === "recovered" && !(compared && !base[RIGHT] && judged.some((row) => row[RIGHT]))) return false;
      if (show === "broken" && !(compared && base[RIGHT] && judged.some((row) => !row[RIGHT]))) return false;
      if (show === "unrecovered" && !(compared && !base[RIGHT] && judged.length && judged.every((row) => !row[RIGHT]))) return false;
      if (show === "unstable" && !(one < 0 ? rows : judged).some((row) => row[UNSTABLE])) return false;
      if (depth && (item.depth[model] || {})[tau] !== depth) return false;
      if (field.category.value && item.category !== field.category.value) return false;
      return !needle || haystack(item).includes(needle);
    });
  }

  function verdict(row, base) {
    if (!answered(row)) return el("span", { class: "verdict" }, el("i", { "aria-hidden": "true" }, "–"), "failed");
    const isMethod = answered(base) && row !== base;
    const name = row[RIGHT] ? (isMethod && !base[RIGHT] ? "recovered" : "right") : (isMethod && base[RIGHT] ? "broken" : "wrong");
    return el("span", { class: `verdict ${name}` }, el("i", { "aria-hidden": "true" }, row[RIGHT] ? "✓" : "✗"), name);
  }

  const STATES = { empty: "empty", refused: "refused", unreadable: "could not be read", truncated: "was cut off", error: "error" };
  const said = (at, state) => at >= 0 ? el("bdi", { dir: "auto" }, data.texts[at]) : el("em", {}, STATES[state] || "no answer");
  const isJudged = (row) => row[CONF] === data.baseline || data.methods.includes(row[CONF]);

  // Of a configuration that nothing is compared with: how many of its samples are right, and whether they differ.
  const samples = (row) => row[GROUPS].reduce((sum, group) => sum + group[3], 0);
  const rights = (row) => row[GROUPS].reduce((sum, group) => sum + group[2] * group[3], 0);
  const tally = (row) => el("span", { class: "verdict" }, el("i", { "aria-hidden": "true" }, row[UNSTABLE] ? "≠" : "="), `${rights(row)} of ${samples(row)} right`);

  function answerCard(row, base) {
    const asked = samples(row);
    const card = el("section", {}, el("h3", {}, el("span", {}, label(row[CONF])), isJudged(row) ? verdict(row, base) : null));
    if (isJudged(row)) {
      const votes = row[ASKED] > 1 ? el("span", { class: "votes" }, ` ${row[VOTES]} of ${row[ASKED]} votes`) : null;
      card.append(el("p", { class: "said" }, said(row[SAID], row[GROUPS][0][1]), votes));
    } else {
      card.append(el("p", { class: "votes" }, `right in ${rights(row)} of ${asked} samples`));
    }
    if (asked > 1) {
      if (isJudged(row) && asked > row[ASKED]) card.append(el("p", { class: "votes" }, `All ${asked} samples, of which the first ${row[ASKED]} vote:`));
      card.append(el("ul", {}, ...row[GROUPS].map(([value, state, right, count]) =>
        el("li", {}, el("span", { class: "n" }, `${count}×`), el("span", {}, right ? "✓" : "✗", el("span", { class: "sr" }, right ? "right" : "wrong")), el("span", {}, said(value, state))))));
    }
    const raws = row[GROUPS].flatMap((group) => group[4]);
    const box = el("details", { class: "raws" }, el("summary", {}, raws.length > 1 ? `Raw text, ${raws.length} different` : "Raw text"));
    box.addEventListener("toggle", () => {
      if (!box.open || box.children.length > 1) return;
      for (const [text, count] of raws) {
        if (raws.length > 1 || count > 1) box.append(el("div", { class: "times" }, `${count}×`));
        box.append(el("pre", { dir: "auto", tabindex: "0" }, data.texts[text] || "(empty)"));
      }
    });
    card.append(box);
    return card;
  }

  function detail(item, columns) {
    const rows = item.of[field.model.value] || [];
    const base = find(rows, data.baseline);
    const head = el("div", { class: "detail-head" });
    const fact = (name, ...words) => head.append(el("span", {}, el("span", { class: "muted" }, `${name} `), ...words));
    fact("Answer", el("b", {}, el("bdi", { dir: "auto" }, item.answers[0] || "not listed")));
    if (item.answers.length > 1) fact("also accepted", el("bdi", { dir: "auto" }, item.answers.slice(1).join(" · ")));
    for (const [tau, depth] of Object.entries(item.depth[field.model.value] || {})) fact(`τ = ${tau}`, depth);
    if (item.evidence) head.append(el("a", { href: `evidence.html#item=${encodeURIComponent(item.id)}` }, "window and evidence"));
    head.append(el("a", { href: `#item=${encodeURIComponent(item.id)}` }, "link to this item"));
    return el("tr", { class: "detail" }, el("td", { colspan: columns }, head, el("div", { class: "answers" }, ...rows.map((row) => answerCard(row, base)))));
  }

  function render() {
    const shown = selected();
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(page, pages - 1);
    const part = shown.slice(page * PAGE, (page + 1) * PAGE);
    const judged = [data.baseline, ...data.methods].filter((at) => at >= 0);
    const told = new Set(part.flatMap((item) => (item.of[field.model.value] || []).map((row) => row[CONF])));
    const columns = judged.length ? judged : [...told].sort((a, b) => a - b).slice(0, 6);
    byId("item-count").textContent = shown.length === data.items.length ? `All ${shown.length} items` : `${shown.length} of ${data.items.length} items`;
    const body = el("tbody");
    for (const item of part) {
      const rows = item.of[field.model.value] || [];
      const base = find(rows, data.baseline);
      const open = el("button", { type: "button", class: "open", "aria-expanded": String(opened.has(item.id)) }, el("bdi", { dir: "auto" }, item.question));
      const meta = [item.category, item.task, item.id].filter(Boolean).join(" · ");
      const line = el("tr", { "data-item": item.id },
        el("td", { class: "q" }, open, el("span", { class: "meta" }, meta)),
        el("td", { class: "gold", "data-label": "Answer:" }, el("bdi", { dir: "auto" }, item.answers[0] || "–")),
        ...columns.map((at) => {
          const row = find(rows, at);
          return el("td", { class: "v", "data-label": label(at) }, row ? (isJudged(row) ? verdict(row, base) : tally(row)) : "–");
        }));
      body.append(line);
      if (opened.has(item.id)) line.after(detail(item, columns.length + 2));
      open.addEventListener("click", () => {
        const closes = opened.delete(item.id);
        if (closes) line.nextElementSibling.remove(); else { opened.add(item.id); line.after(detail(item, columns.length + 2)); }
        open.setAttribute("aria-expanded", String(!closes));
      });
    }
    const table = el("table", { class: "items" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Question"), el("th", { scope: "col" }, "Answer"), ...columns.map((at) => el("th", { scope: "col" }, label(at))))), body);
    byId("item-list").replaceChildren(part.length ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Items" }, table) : el("p", {}, "No item fits these filters."));
    const turn = (by, words) => {
      const button = el("button", { type: "button", disabled: page + by < 0 || page + by >= pages }, words);
      button.addEventListener("click", () => { page += by; render(); byId("items").scrollIntoView(); });
      return button;
    };
    byId("pager").replaceChildren(...(pages > 1 ? [turn(-1, "Previous"), `Page ${page + 1} of ${pages}`, turn(1, "Next")] : []));
  }

  function setFilters(values) {
    for (const [name, control] of Object.entries(field)) {
      const fallback = name === "show" ? "all" : name === "model" ? data.models[0] || "" : "";
      const wanted = values.get(name) ?? fallback;
      control.value = wanted;
      if (control.value !== wanted) control.value = fallback;
    }
    page = 0;
    render();
  }

  let waiting = 0;
  for (const control of Object.values(field)) {
    control.addEventListener(control === field.search ? "input" : "change", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { page = 0; render(); }, control === field.search ? 120 : 0);
    });
  }
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("f-reset").addEventListener("click", () => setFilters(new Map()));

  // Addresses: #item=ID opens an item, #items?show=recovered&... sets filters, #t-... opens a table.
  function follow() {
    const hash = location.hash.slice(1);
    if (hash.startsWith("item=")) {
      let id = hash.slice(5);
      try { id = decodeURIComponent(id); } catch { /* not percent-encoded: take it as it is */ }
      if (!data.items.some((item) => item.id === id)) return;
      if (!selected().some((item) => item.id === id)) setFilters(new Map([["model", field.model.value]]));
      page = Math.floor(selected().findIndex((item) => item.id === id) / PAGE);
      opened.add(id);
      render();
      const line = [...document.querySelectorAll("tr[data-item]")].find((row) => row.dataset.item === id);
      line.scrollIntoView();
      line.querySelector("button").focus({ preventScroll: true });
    } else if (hash.startsWith("items?")) {
      setFilters(new URLSearchParams(hash.slice(6)));
      byId("items").scrollIntoView();
    } else {
      const target = byId(hash) || byId(decodeURI(hash));
      for (let box = target; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
      if (target) target.scrollIntoView();
    }
  }
  addEventListener("hashchange", follow);
  // A second click on the same link does not change the address, but should still work.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });

  // Paper has no way to open a table. One of many rows is printed only if the reader has opened it.
  let closed = [];
  addEventListener("beforeprint", () => { closed = [...document.querySelectorAll("main details:not([open])")].filter((box) => !box.closest("#items, .finding.long")); closed.forEach((box) => { box.open = true; }); });
  addEventListener("afterprint", () => closed.forEach((box) => { box.open = false; }));

  render();
  if (location.hash) follow();
})();

// The frame of the review pages: keeps what is written, says so, and lets keys do what buttons do.
//
// An entry's page has one [data-entry] (the address of its draft) and fields with data-field: text fields,
// selects, radio buttons, check boxes, and hidden inputs with data-json (any JSON value). Whatever changes is
// kept in the browser at once, on the server 400 ms later, and again and again until the server has it.
// What has data-beside goes with every text and is kept in none: what the page showed when it was made.
// window.leadline: value(), set(fields), changed(), flush(), commit(), say(text, bad), api(method, url, body).
"use strict";
(() => {
  const PAUSE = 400, LONGEST_WAIT = 15000, KEEPALIVE = 60000, INSTEAD = { t: "d", d: "t" };
  const entry = document.querySelector("[data-entry]");
  const find = (what, root = document) => root.querySelector(what);
  const all = (what, root = document) => [...root.querySelectorAll(what)];
  const clock = (time) => new Date(time).toLocaleTimeString("en-GB");

  async function api(method, url, body, keepalive = false) {
    const headers = { "X-Leadline": "1" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const answer = await fetch(url, { method, headers, keepalive, body: body === undefined ? undefined : JSON.stringify(body) });
    return { status: answer.status, body: await answer.json().catch(() => ({})) };
  }

  // Fields.
  const fields = () => (entry ? all("[data-field]", entry) : []);
  const name = (field) => field.dataset.field;
  const live = { checked: (field) => field.checked, text: (field) => field.value };
  function value(read = live) {
    const found = {};
    for (const field of fields()) {
      if (field.type === "radio") found[name(field)] = read.checked(field) ? field.value : found[name(field)] ?? "";
      else if (field.type === "checkbox") found[name(field)] = read.checked(field);
      else if ("json" in field.dataset) found[name(field)] = JSON.parse(field.value || "null");
      else found[name(field)] = read.text(field);
    }
    return found;
  }
  // As the page came, whatever was written into it before this script ran.
  const sent = {
    checked: (field) => field.defaultChecked,
    text(field) {
      if (field.tagName === "SELECT") return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value ?? "";
      if (field.tagName === "TEXTAREA") return field.defaultValue;
      return Object.assign(document.createElement("input"), { type: field.type, value: field.defaultValue }).value;
    },
  };
  // A field of which a text says nothing is as it was when the page came; empty if somebody had filled it then.
  const initial = entry ? value(sent) : {}, written = entry ? JSON.parse(entry.dataset.written) : [];
  function set(values) {
    for (const field of fields()) {
      const own = name(field);
      const wanted = own in values || written.includes(own) ? values[own] : initial[own];
      if (field.type === "radio") field.checked = field.value === (wanted ?? "");
      else if (field.type === "checkbox") field.checked = Boolean(wanted);
      else if ("json" in field.dataset) field.value = JSON.stringify(wanted ?? null);
      else if (field.value !== (wanted ?? "")) field.value = wanted ?? "";
      grow(field);
    }
    entry.dispatchEvent(new CustomEvent("leadline:set", { detail: values }));
  }
  const text = (values) => JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
  function grow(field) {  // a text field is as tall as its text
    if (field.tagName !== "TEXTAREA") return;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  }

  // Keeping.
  const page = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const store = entry && `leadline:${entry.dataset.instance}:${entry.dataset.reader}:${entry.dataset.entry}`;
  let version = entry ? Number(entry.dataset.version) : 0;
  let base = initial;  // what this page and the server last both had
  let edit = 0, kept = 0, sending = null, timer = 0, wait = 1000, known = "", leaving = false;
  const dirty = () => kept < edit;
  const beside = () => Object.fromEntries(all("[data-beside]", entry).map((each) => [each.dataset.beside, each.value]));
  const body = () => ({ version, fields: value(), beside: beside(), page, edit, reader: entry.dataset.reader });

  function say(words, bad = false) {
    const place = find("[data-status]");
    if (!place) return;
    place.classList.toggle("bad", bad);
    if (place.textContent !== words) place.textContent = words;
  }
  function remember() {
    try { localStorage.setItem(store, JSON.stringify({ version, fields: value() })); } catch { /* full or forbidden */ }
  }
  function forget() {
    try { localStorage.removeItem(store); } catch { /* forbidden */ }
  }
  function remembered() {
    try { return JSON.parse(localStorage.getItem(store)); } catch { return null; }
  }
  function changed() {
    if (text(value()) === known) return;
    known = text(value());
    edit += 1;
    remember();
    say("saving …");
    again(PAUSE);
  }
  function again(pause) {
    clearTimeout(timer);
    timer = setTimeout(flush, pause);
  }
  function settled(answer, sent) {
    version = answer.version;
    kept = Math.max(kept, sent);
    wait = 1000;
    entry.dataset.state = answer.committed ? "done" : "draft";
    if (dirty()) { remember(); return; }
    base = value();
    forget();
    say(`${answer.committed ? "committed" : "saved"} ${clock(answer.saved)}`);
  }
  // One thing is sent at a time: of two at once, the older could arrive last.
  async function turn() {
    while (sending) await sending;
    let release = () => {};
    sending = new Promise((resolve) => { release = resolve; });
    return () => { sending = null; release(); };
  }
  // Sends until the server has all, or cannot have it now; true if it has.
  async function flush() {
    clearTimeout(timer);
    if (!entry) return true;
    const done = await turn();
    if (!dirty()) { done(); return true; }
    const sent = edit;
    try {
      const answer = await api("PUT", entry.dataset.entry, body());
      if (answer.status === 200) settled(answer.body, sent);
      else if (answer.status === 409 && answer.body.theirs) conflict(answer.body);
      else if (answer.status >= 500) throw new Error(answer.body.error || "the server cannot keep it");
      else {
        say(`not saved: ${answer.body.error || answer.status}`, true);
        if (answer.status === 401 || answer.status === 408) again(LONGEST_WAIT);
      }
    } catch (error) {
      const why = error instanceof TypeError ? "server away" : error.message;
      say(`not saved: ${why}; it is kept in this browser, and tried again`, true);
      again(wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    } finally { done(); }
    return !dirty();
  }

  // Two people, one draft. A field that was empty when they began, and into which only one of them wrote, is
  // taken from that one, whichever text is chosen: nothing that somebody wrote vanishes from the page unseen.
  const lacks = (what) => !what || (Array.isArray(what) && !what.length);
  function filled(chosen, other) {
    const only = Object.entries(other).filter(([each, what]) => !lacks(what) && lacks(chosen[each]) && lacks(base[each]));
    return { ...chosen, ...Object.fromEntries(only) };
  }
  function conflict(theirs) {
    const dialog = find("[data-conflict]"), mine = value(), self = theirs.by === entry.dataset.reader;
    const differing = [...new Set([...Object.keys(mine), ...Object.keys(theirs.theirs)])]
      .filter((each) => text({ a: mine[each] || "" }) !== text({ a: theirs.theirs[each] || "" }));
    if (!differing.length) { version = theirs.version; again(0); return; }
    find("[data-conflict-words]").textContent = self
      ? `You saved another text at ${clock(theirs.saved)} in another window, while this one was open.`
      : `${theirs.by} saved another text at ${clock(theirs.saved)}, while you wrote this one.`;
    find("[data-conflict-texts]").replaceChildren(...differing.map((each) => {
      const box = document.createElement("section"), title = document.createElement("h3");
      title.textContent = label(each);
      box.append(title, shown(self ? "In this window" : "Mine", mine[each]), shown(self ? "In the other" : `${theirs.by}'s`, theirs.theirs[each]));
      return box;
    }));
    say(`not saved: ${self ? "another window" : theirs.by} saved another text; choose one`, true);
    find("[data-keep-mine]").onclick = () => {
      version = theirs.version;
      set(filled(mine, theirs.theirs));
      known = text(value());
      edit += 1;
      dialog.close();
      remember();
      flush();
    };
    find("[data-take-theirs]").onclick = () => {
      const both = filled(theirs.theirs, mine);
      set(theirs.theirs);
      known = text(value());
      settled({ ...theirs }, edit);
      dialog.close();
      if (text({ ...theirs.theirs, ...both }) === text(theirs.theirs)) return;
      set(both);
      changed();
      flush();
    };
    if (!dialog.open) dialog.showModal();
  }
  function label(field) {
    const own = fields().find((each) => name(each) === field);
    return own?.dataset.label || own?.labels?.[0]?.textContent.trim() || field;
  }
  function shown(whose, what) {
    const box = document.createElement("div"), words = document.createElement("pre"), who = document.createElement("h4");
    who.textContent = whose;
    words.textContent = typeof what === "string" ? what || "(nothing)" : what ? JSON.stringify(what, null, 1) : "(nothing)";
    words.tabIndex = 0;
    words.setAttribute("aria-label", whose);
    box.append(who, words);
    return box;
  }

  // Commit and undo.
  async function commit() {
    problems({});
    const done = await turn();
    if (leaving) { done(); return; }
    clearTimeout(timer);
    say("saving …");
    const sent = edit;
    let answer;
    try {
      answer = await api("POST", `${entry.dataset.entry}/commit`, body());
    } catch {
      say("not committed: server away; the text is kept in this browser. Press again when it is back", true);
      if (dirty()) again(wait);
      return;
    } finally { done(); }
    if (answer.status === 200 && edit !== sent) settled({ ...answer.body, committed: false }, sent);
    else if (answer.status === 200) { settled(answer.body, sent); leaving = true; location.assign(answer.body.next); }
    else if (answer.status === 422 && answer.body.problems) { settled(answer.body, sent); problems(answer.body.problems); }
    else if (answer.status === 409 && answer.body.theirs) conflict(answer.body);
    else say(`not committed: ${answer.body.error || answer.status}`, true);
  }
  function problems(found) {
    let first = null;
    for (const place of all("[data-problem]", entry)) {
      const words = found[place.dataset.problem];
      place.hidden = !words;
      place.textContent = words || "";
      for (const field of fields().filter((each) => name(each) === place.dataset.problem)) {
        field.setAttribute("aria-invalid", String(Boolean(words)));
        if (words) first ??= field;
      }
    }
    const others = Object.keys(found).filter((each) => !find(`[data-problem="${CSS.escape(each)}"]`, entry));
    if (Object.keys(found).length) say(`not committed: ${others.map((each) => found[each]).join("; ") || "see above"}`, true);
    first?.closest("details")?.setAttribute("open", "");
    first?.focus();
  }
  async function undo() {
    if (!(await flush())) return;
    try {
      const answer = await api("POST", `${entry.dataset.entry}/undo`, { version, reader: entry.dataset.reader });
      if (answer.status === 409 && answer.body.theirs) conflict(answer.body);
      else if (answer.status !== 200) say(answer.body.error, true);
      else {
        const same = answer.body.version === version;
        set(answer.body.fields);
        known = text(value());
        settled(answer.body, edit);
        say(same ? "there is nothing to undo" : `undone ${clock(answer.body.saved)}`);
      }
    } catch { say("not undone: server away", true); }
  }

  // Keys.
  const inText = (at) => at.closest?.("textarea, select, input:not([type=radio]):not([type=checkbox]), [contenteditable]");
  function toAnswer() {
    const field = find("[data-focus]:checked") ?? find("[data-focus]");
    field?.focus();
    return Boolean(field);
  }
  const single = () => { try { return localStorage.getItem("leadline:single-keys") !== "no"; } catch { return true; } };
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || find("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (!entry) return;
      event.preventDefault();
      (find("[data-do-commit]", entry) ?? { click: commit }).click();
      return;
    }
    if (event.key === "Escape" && inText(event.target)) { event.target.blur(); return; }
    // A list that drops down takes letters, yet no slash: whoever chose a document searches it next.
    const typed = inText(event.target) && !(event.key === "/" && event.target.matches("select"));
    if (event.ctrlKey || event.metaKey || event.altKey || typed || !single()) return;
    const by = (key) => find(`[data-key="${CSS.escape(key)}"]`);
    // Every page has the same keys: where only an extract or only a document is read, both keys lead to it.
    let target = by(event.key) ?? (INSTEAD[event.key] ? by(INSTEAD[event.key]) : null);
    if (event.key === "/") target = find("[data-search]");
    const answer = event.key === "a" && !target && toAnswer();
    if (/^[1-9]$/.test(event.key)) {
      const choices = event.target.closest("[data-choices]") ?? find("[data-choices]");
      if (choices) target ??= all("input[type=radio]", choices)[event.key - 1];
    }
    if (answer) event.preventDefault();
    if (!target || target.disabled) return;
    event.preventDefault();
    target.focus();
    if (!inText(target)) target.click();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  window.leadline = Object.assign(window.leadline || {}, { api, value, set, changed, flush, commit, say });
  if (!entry) return;
  known = text(initial);
  entry.addEventListener("input", (event) => { if (event.target.matches("[data-field]")) { grow(event.target); changed(); } });
  entry.addEventListener("change", (event) => { if (event.target.matches("[data-field]")) { changed(); flush(); } });
  entry.addEventListener("focusout", () => { if (dirty()) flush(); });
  entry.addEventListener("submit", (event) => { if (event.target.matches("[data-commit]")) event.preventDefault(); });
  find("[data-do-commit]", entry)?.addEventListener("click", commit);
  find("[data-undo]", entry)?.addEventListener("click", undo);
  window.addEventListener("online", flush);
  window.addEventListener("pagehide", () => {
    if (dirty() && !leaving && JSON.stringify(body()).length < KEEPALIVE) api("PUT", entry.dataset.entry, body(), true).catch(() => {});
  });
  for (const field of fields()) grow(field);
  const own = remembered(), on = { new: "not answered yet", draft: "saved", read: "reading committed", done: "committed" };
  const { state, saved, by } = entry.dataset;
  say(saved ? `${on[state]} ${clock(saved)}${by !== entry.dataset.reader ? ` by ${by}` : ""}` : on[state]);
  // What the server never got: what this browser kept, and over it what was written before this script ran.
  const early = Object.entries(value()).filter(([each, what]) => text({ a: what }) !== text({ a: initial[each] }));
  const unsent = { ...initial, ...own?.fields, ...Object.fromEntries(early) };
  if (text(unsent) !== known) {
    set(unsent);
    if (own) version = own.version;
    changed();
    flush();
  } else if (own) forget();
  if (matchMedia("(hover: hover)").matches) toAnswer();  // on a phone it would bring up the keyboard, over the text
})();

// The page of a label: documents beside the question, quotes taken from them, compared with them at once.
"use strict";
(() => {
  const { api, changed, flush, say, DocumentPane, DocumentSearch, PaneCaret, thousands } = window.leadline;
  const entry = document.querySelector("[data-entry]");
  const find = (what) => entry.querySelector(what);
  const SHOWN = 160, PLACE = "leadline:focus";

  // A new item has a key of its own before anything of it is written: two people at once get two.
  const begin = find("[data-begin]");
  begin?.addEventListener("click", async () => {
    try {
      const answer = await api("POST", "/api/new-item", {});
      // In the place of this page: going back shall begin no further one.
      if (answer.status === 200) location.replace(`/label/${answer.body.key}`);
      else say(answer.body.error || "that did not work", true);
    } catch { say("server away", true); }
  });
  if (begin) {
    begin.disabled = false;
    begin.focus({ preventScroll: true });
    // Whoever came by a button that said "Begin" has said so already; whoever turned the pages has not.
    if (location.hash === "#begin") begin.click();
  }

  const asked = find("#asked"), heading = find("#question"), nothing = heading.textContent;
  asked?.addEventListener("input", () => { heading.textContent = asked.value.trim() || nothing; });

  // What is asked decides how it is answered: the page comes anew, and the focus stays where it is.
  for (const field of entry.querySelectorAll("[data-reshapes]")) {
    field.addEventListener("change", async () => {
      changed();
      if (!(await flush())) return;
      try { sessionStorage.setItem(PLACE, document.activeElement?.id || field.id); } catch { /* forbidden */ }
      location.reload();
    });
  }
  try {
    document.getElementById(sessionStorage.getItem(PLACE) || "")?.focus();
    sessionStorage.removeItem(PLACE);
  } catch { /* forbidden */ }

  const root = find("[data-pane]"), store = find('[data-field="quotes"]');
  if (!root || !store) return;
  const pane = new DocumentPane(root);
  new PaneCaret(pane);
  const which = find("[data-which]"), act = find("[data-do-quote]"), words = find("[data-marked]");
  const names = [...which.options].map((option) => option.textContent);
  new DocumentSearch(pane, { count: names.length, open: (number, at) => open(number, at) });
  const quotes = () => JSON.parse(store.value || "null") || [];
  const short = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
  // A quote says the name of its document: numbers are another's once a document came or went.
  const numberOf = (quote) => names.indexOf(quote.name);
  const marksOf = (number) => quotes().filter((one) => numberOf(one) === number)
    .map(({ start, end }) => ({ start, end, label: "a quote of this label" }));

  async function open(number, at = 0) {
    which.value = String(number);
    return pane.open(number, { at, marks: marksOf(number) });
  }
  async function go(quote) {
    const number = numberOf(quote);
    if (number < 0) pane.say(`${quote.name} is not among the documents`);
    else if (pane.number === number || (await open(number, quote.start))) await pane.show(quote.start, quote.end);
  }

  // The list of quotes is made of what the draft holds, whoever changed it.
  function list() {
    const rows = quotes().map((quote, place) => {
      const row = document.createElement("li"), text = document.createElement("q"), where = document.createElement("p");
      text.textContent = quote.quote;
      text.dir = "auto";
      where.className = "beside";
      where.textContent = `${quote.name}, characters ${thousands(quote.start)}–${thousands(quote.end)} `;
      const button = (name, label, then) => {
        const made = document.createElement("button");
        made.type = "button";
        made.textContent = name;
        made.setAttribute("aria-label", `${label} ${place + 1}`);
        made.addEventListener("click", then);
        where.append(made, " ");
      };
      button("Show", "Show quote", () => go(quote));
      button("Remove", "Remove quote", () => keep(quotes().filter((_, other) => other !== place), `quote ${place + 1} removed`));
      row.append(text, where);
      return row;
    });
    find("[data-quotes]").replaceChildren(...rows);
    find("[data-no-quotes]").hidden = rows.length > 0;
    if (pane.number !== null) pane.setMarks(marksOf(pane.number));
  }
  function keep(values, what) {
    store.value = JSON.stringify(values);
    changed();
    flush();
    list();
    pane.say(what);
  }

  // The server compares what was marked with the document, and gives the quote back as it stands there.
  async function quote(marked) {
    if (!marked) return;
    const { document: number, start, end, text } = marked;
    const fromPane = document.activeElement === pane.text || document.activeElement === act;
    act.disabled = true;
    pane.say("comparing with the document…");
    try {
      const answer = await api("POST", `/api/documents/${number}/quote`, { start, end, text });
      const { quote: found, widened } = answer.body;
      const isFound = (one) => ["name", "sha256", "start", "end"].every((each) => one[each] === found[each]);
      if (answer.status === 202) pane.say("the document is being read; try again in a moment");
      else if (answer.status !== 200) pane.say(`no quote: ${answer.body.error || answer.status}`);
      else if (quotes().some(isFound)) {
        pane.say("this is a quote of the label already");
      } else {
        keep([...quotes(), found], `quote ${quotes().length + 1} kept${widened ? ", widened to whole words" : ""}: “${short(found.quote)}”`);
        const place = find('[data-problem="quotes"]');
        place.hidden = true;
      }
    } catch { pane.say("no quote: server away"); }
    act.disabled = !pane.marked;
    if (fromPane) pane.text.focus({ preventScroll: true });
  }

  root.addEventListener("pane:selection", ({ detail }) => {
    act.disabled = !detail;
    act.closest(".marked").classList.toggle("is-empty", !detail);
    words.textContent = detail ? `“${short(detail.text)}” (${thousands(detail.end - detail.start)} characters)` : "Nothing is selected.";
  });
  root.addEventListener("pane:take", ({ detail }) => quote(detail));
  act.addEventListener("click", () => {
    pane.selected();  // browsers tell of a selection a moment later than it is made
    quote(pane.marked);
  });
  which.addEventListener("change", () => open(Number(which.value)));
  entry.addEventListener("leadline:set", list);

  list();
  const first = quotes()[0];
  if (first && numberOf(first) >= 0) open(numberOf(first), first.start);
  else if (entry.querySelector("[data-labelling]").dataset.document !== "") open(Number(which.value));
})();

// The page of a doubted item: opens its document at the passage, shows the field of a corrected answer where one can
// be given, and says on the button what a commit would do.
"use strict";
(() => {
  const root = document.querySelector("[data-entry]");

  // A long extract begins near what is marked in it.
  const extract = document.querySelector("#the-text"), mark = extract?.querySelector("mark");
  if (mark) extract.scrollTop = mark.offsetTop - extract.offsetTop - extract.clientHeight / 4;

  // What a commit would do stands on its button: nobody replaces a label unasked.
  const corrected = root.querySelector("[data-corrected]");
  if (corrected) {
    const button = root.querySelector("[data-do-commit]"), plain = button.textContent;
    const answer = corrected.querySelector("input"), LONGEST = 40;
    const becomes = () => {
      const text = answer.value.trim();
      if (!text) return "Commit: the item is taken out";
      return `Commit: the label becomes ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
    };
    const does = {
      upheld: becomes,
      rejected: () => "Commit: the label stands",
      "excluded-ambiguous": () => "Commit: the item is taken out",
      withdrawn: () => "Commit: the decision is taken back",
    };
    const chosen = () => root.querySelector('[data-field="outcome"]:checked')?.value ?? "";
    const shown = () => {
      corrected.hidden = chosen() !== "upheld";
      button.textContent = does[chosen()]?.() ?? plain;
    };
    for (const when of ["change", "input", "leadline:set"]) root.addEventListener(when, shown);
    root.addEventListener("change", (event) => {
      if (event.target.value === "upheld") corrected.scrollIntoView({ block: "center" });
    });
    shown();
  }

  const place = root.querySelector("[data-documents]");
  if (!place) return;
  const pane = new leadline.DocumentPane(place.querySelector("[data-pane]"));
  new leadline.DocumentSearch(pane);
  let places = [];

  // Goes to the next marked passage of a document; to the first where another one is open, or none.
  async function passage(number) {
    const own = places.find((one) => one.document === number) || { at: 0, spans: [] };
    const marks = own.spans.map(([start, end]) => ({ start, end, label: "what the label rests on" }));
    await pane.open(number, { at: own.at, marks });
  }

  for (const button of place.querySelectorAll("[data-open]")) {
    button.addEventListener("click", () => passage(Number(button.dataset.open)));
  }

  async function begin() {
    const first = Number(place.querySelector("[data-open]").dataset.open);
    pane.say("the passage is being looked for…");
    try {
      const answer = await fetch(`${root.dataset.entry}/places`, { headers: { Accept: "application/json" } });
      places = (await answer.json()).places || [];
    } catch { /* the document can be read all the same */ }
    await passage(first);
  }
  begin();
})();

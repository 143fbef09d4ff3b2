// The page of a doubted item: opens its document at the passage, and shows the field of a corrected answer where
// one can be given.
"use strict";
(() => {
  const root = document.querySelector("[data-entry]");

  const corrected = root.querySelector("[data-corrected]");
  if (corrected) {
    const shown = () => {
      const chosen = root.querySelector('[data-field="outcome"]:checked');
      corrected.hidden = !chosen || chosen.value !== "upheld";
    };
    for (const when of ["change", "leadline:set"]) root.addEventListener(when, shown);
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

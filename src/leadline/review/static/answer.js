// An answer and "the text cannot settle it" exclude each other. Who answers takes the other back; who says that it
// cannot be settled lets go of a pressed button, which could not be let go of otherwise. What is written stays
// until its writer takes it out: a commit says so.
"use strict";
(() => {
  const entry = document.querySelector("[data-entry]"), { changed } = window.leadline;
  const unsettled = entry.querySelector('[data-field="unsettled"]');
  if (!unsettled) return;
  const answers = () => [...entry.querySelectorAll("[data-answer] [data-field]")];

  function answered(event) {
    if (!answers().includes(event.target) || !unsettled.checked || !event.target.value) return;
    unsettled.checked = false;
    changed();
  }
  entry.addEventListener("input", answered);
  entry.addEventListener("change", answered);
  unsettled.addEventListener("change", () => {
    if (!unsettled.checked) return;
    for (const field of answers()) if (field.type === "radio") field.checked = false;
    changed();
  });
})();

// Answering a blind pack: selected words become the quote; an answer and "cannot be settled" exclude each other.
"use strict";
(() => {
  const entry = document.querySelector("[data-entry]"), { changed, say } = window.leadline;
  const text = entry.querySelector("[data-text]"), quote = entry.querySelector("#quote");
  const unsettled = entry.querySelector("[data-field=unsettled]");
  let marked = "";

  document.addEventListener("selectionchange", () => {
    const selection = getSelection();
    const inside = text && selection.rangeCount && !selection.isCollapsed
      && text.contains(selection.anchorNode) && text.contains(selection.focusNode);
    if (inside) marked = selection.toString();
    else if (selection.isCollapsed && text?.contains(selection.anchorNode)) marked = "";
  });
  entry.querySelector("[data-take-quote]")?.addEventListener("click", () => {
    if (!marked.trim()) { say("select the words in the text first"); return; }
    entry.querySelector("[data-more]").open = true;
    quote.value = marked.trim();
    quote.dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey || !text) return;
    if (event.target.closest("textarea, input:not([type=radio]):not([type=checkbox])") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    text.focus();
  });
  entry.addEventListener("change", (event) => {
    const field = event.target.dataset.field ?? "";
    const answer = field === "answer" || field.startsWith("part-");
    if (!answer || !unsettled.checked || !event.target.value) return;
    unsettled.checked = false;
    changed();
  });
})();

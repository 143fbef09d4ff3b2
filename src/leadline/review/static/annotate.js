// Answering a blind pack: selected words become the quote.
"use strict";
(() => {
  const entry = document.querySelector("[data-entry]"), { say } = window.leadline;
  const text = entry.querySelector("[data-text]"), quote = entry.querySelector("#quote");
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
})();

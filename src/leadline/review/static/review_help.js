// Dialogs of an entry's page: the keys, and earlier texts.
"use strict";
(() => {
  const { api, set, changed, flush, say } = window.leadline;
  const entry = document.querySelector("[data-entry]");
  const find = (what) => entry.querySelector(what);
  const KINDS = { saved: "saved", undone: "after an undo", committed: "committed", side: "came too late, kept beside" };

  for (const button of entry.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  find("[data-help]")?.addEventListener("click", () => find("[data-keys]").showModal());
  const keys = find("[data-single-keys]");
  try { keys.checked = localStorage.getItem("leadline:single-keys") !== "no"; } catch { keys.checked = true; }
  keys.addEventListener("change", () => {
    try { localStorage.setItem("leadline:single-keys", keys.checked ? "yes" : "no"); } catch { /* forbidden */ }
  });

  find("[data-history]")?.addEventListener("click", async () => {
    await flush();
    let answer;
    try { answer = await api("GET", `${entry.dataset.entry}/history`); } catch { say("server away", true); return; }
    if (answer.status !== 200) { say(answer.body.error, true); return; }
    const rows = answer.body.versions.map((version) => {
      const row = document.createElement("li"), head = document.createElement("p"), words = document.createElement("pre");
      const take = document.createElement("button");
      const when = new Date(version.saved).toLocaleString("en-GB");
      head.textContent = `${when}, ${version.by}: ${KINDS[version.kind] ?? version.kind}`;
      words.textContent = Object.entries(version.fields)
        .filter(([, value]) => value && !(Array.isArray(value) && !value.length))
        .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
        .join("\n") || "(nothing)";
      take.type = "button";
      take.textContent = "Take this";
      take.setAttribute("aria-label", `Take the text of ${when}`);
      take.addEventListener("click", () => {
        find("[data-earlier]").close();
        set(version.fields);
        changed();
        flush();
      });
      row.append(head, words, take);
      return row;
    });
    const empty = document.createElement("li");
    empty.textContent = "Nothing was written here yet.";
    find("[data-earlier-texts]").replaceChildren(...(rows.length ? rows : [empty]));
    find("[data-earlier]").showModal();
  });
})();

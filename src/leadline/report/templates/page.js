"use strict";
// What every page does: the theme, and tables that sort.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  // Theme: follow the system until the reader says otherwise.
  const themeButton = document.getElementById("theme");
  const themes = ["auto", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("leadline-theme"); } catch { return null; } };
  function setTheme(theme) {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
    try { localStorage.setItem("leadline-theme", theme); } catch { /* a page from disk may have no storage */ }
  }
  let theme = themes.includes(stored()) ? stored() : "auto";
  setTheme(theme);
  themeButton.addEventListener("click", () => setTheme(theme = themes[(themes.indexOf(theme) + 1) % 3]));

  // Tables sort by the full value behind each printed figure; empty cells stay last.
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") !== "descending" && (head.classList.contains("num") || head.hasAttribute("aria-sort"));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[column];
          if (cell.dataset.sort !== undefined) return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
          return cell.textContent.trim();
        };
        const body = table.tBodies[0];
        const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
        const rows = [...body.rows].map((row) => [key(row), row]);
        rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : (descending ? -1 : 1) * compare(a, b));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
})();

// Looks for words in the document of a pane, a little at a time; each hit can be gone to, and taken.
//
// new leadline.DocumentSearch(pane), whose root holds data-pane-search (a form with an input named q),
// data-pane-hits (a list) and data-pane-more (a button). With data-pane-take on the root each hit has a button
// "Quote": event "pane:take" on the root, detail {document, start, end, text}.
"use strict";
(() => {
  const MOST_AT_ONCE = 50;

  class DocumentSearch {
    constructor(pane) {
      this.pane = pane;
      this.root = pane.root;
      this.hits = [];
      this.turn = 0;
      this.list = pane.part("hits");
      this.more = pane.part("more");
      this.more.addEventListener("click", () => this.look(this.next));
      pane.part("search").addEventListener("submit", (event) => {
        event.preventDefault();
        const query = event.target.elements.q.value;
        // Enter again: the next hit.
        if (query === this.query && this.hits.length) this.go((this.hit + 1) % this.hits.length);
        else this.begin(query);
      });
      this.root.addEventListener("pane:open", (event) => {
        if (event.detail.number !== this.number) this.forget();
      });
      this.forget();
    }

    forget() {
      this.turn += 1;
      this.query = null;
      this.hits = [];
      this.number = this.pane.number;
      this.list.replaceChildren();
      this.more.hidden = true;
    }

    async begin(query) {
      this.forget();
      if (!query.trim() || this.number === null) return;
      this.query = query;
      await this.look(0);
    }

    async look(from) {
      const turn = (this.turn += 1), { thousands } = leadline;
      this.pane.say("looking…");
      try {
        let fresh = 0;
        while (from !== null && fresh < MOST_AT_ONCE) {
          const asked = `q=${encodeURIComponent(this.query)}&from=${from}`;
          const found = await this.pane.get(`/api/documents/${this.number}/search?${asked}`, this.pane.turn);
          if (turn !== this.turn) return;
          const isFirst = !this.hits.length;
          found.hits.forEach((hit) => this.add(hit));
          fresh += found.hits.length;
          from = this.next = found.next;
          const where = `${thousands(found.searched)} of ${thousands(found.total)} characters looked through`;
          this.pane.say(`${thousands(this.hits.length)} found` + (from === null ? "" : `; ${where}`));
          if (isFirst && this.hits.length) await this.go(0, false);
          if (turn !== this.turn) return;
        }
        this.more.hidden = from === null;
      } catch (error) { this.pane.failed(error); }
    }

    add(hit) {
      const place = this.hits.push(hit) - 1;
      const row = document.createElement("li");
      const found = document.createElement("mark");
      found.textContent = hit.text;
      const go = this.button([`…${hit.before}`, found, `${hit.after}…`], () => this.go(place));
      go.className = "pane-hit";
      row.append(go);
      if ("paneTake" in this.root.dataset) {
        const detail = { document: this.number, start: hit.start, end: hit.end, text: hit.text };
        const take = this.button(["Quote"], () => {
          this.root.dispatchEvent(new CustomEvent("pane:take", { bubbles: true, detail }));
        });
        take.setAttribute("aria-label", `Quote hit ${place + 1}`);
        row.append(take);
      }
      this.list.append(row);
    }

    button(words, act) {
      const made = document.createElement("button");
      made.type = "button";
      made.append(...words);
      made.addEventListener("click", act);
      return made;
    }

    // Goes to a hit and selects it. The first is gone to while somebody still types in the field of the search.
    async go(place, focus = true) {
      this.hit = place;
      const before = document.activeElement, { start, end } = this.hits[place];
      await this.pane.show(start, end);
      [...this.list.children].forEach((row, i) => row.toggleAttribute("data-current", i === place));
      if (!focus) before.focus({ preventScroll: true });
    }
  }

  window.leadline = Object.assign(window.leadline || {}, { DocumentSearch });
})();

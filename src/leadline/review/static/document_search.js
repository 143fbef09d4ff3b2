// Looks for words in the document of a pane, a little at a time; each hit can be gone to, and taken.
//
// new leadline.DocumentSearch(pane, {count, open}), whose root holds data-pane-search (a form with an input named q),
// data-pane-hits (a list) and data-pane-more (a button). Where open(number, at) opens any of `count` documents, the
// button data-pane-elsewhere goes on to the next one that holds the words. With data-pane-take on the root each hit has a button
// "Quote": event "pane:take" on the root, detail {document, start, end, text}.
"use strict";
(() => {
  const MOST_AT_ONCE = 50;

  class DocumentSearch {
    constructor(pane, { count = 1, open = null } = {}) {
      this.pane = pane;
      this.count = open ? count : 1;
      this.open = open;
      this.elsewhere = pane.part("elsewhere");
      this.elsewhere?.addEventListener("click", () => this.goOn());
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
        if (event.detail.number === this.number) return;
        // The words still stand in the field: they are looked for here, and the page stays where it was opened.
        const query = this.query, goes = this.isGoingOn;
        this.forget();
        if (query) this.begin(query, goes);
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
      if (this.elsewhere) this.elsewhere.hidden = true;
    }

    async begin(query, goes = true) {
      this.forget();
      if (!query.trim() || this.number === null) return;
      this.query = query;
      this.goes = goes;
      if (this.elsewhere) this.elsewhere.hidden = this.count < 2;
      await this.look(0);
    }

    // To the next document that holds the words; those without a text hold none.
    async goOn() {
      const turn = (this.turn += 1), shown = this.pane.turn, { query, count } = this;
      const isOld = () => turn !== this.turn || shown !== this.pane.turn;
      for (let step = 1; step < count; step += 1) {
        const number = (this.number + step) % count;
        this.pane.say(`looking in document ${number + 1} of ${count}…`);
        try {
          for (let from = 0; from !== null;) {
            const asked = `q=${encodeURIComponent(query)}&from=${from}`;
            const found = await this.pane.get(`/api/documents/${number}/search?${asked}`, shown);
            if (isOld()) return;
            if (found.hits.length) {
              this.isGoingOn = true;
              await this.open(number, found.hits[0].start);
              this.isGoingOn = false;
              return;
            }
            from = found.next;
          }
        } catch (error) {
          if (isOld()) return;
          if (error instanceof TypeError) { this.pane.failed(error); return; }
        }
      }
      this.pane.say("no other document holds these words");
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
          if (isFirst && this.hits.length && this.goes) await this.go(0, false);
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
      if (focus) this.pane.text.scrollIntoView({ block: "nearest" });  // on a phone it is further down
      else before.focus({ preventScroll: true });
    }
  }

  window.leadline = Object.assign(window.leadline || {}, { DocumentSearch });
})();

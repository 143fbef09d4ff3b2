// A document in a pane: slices of its text as they are needed, what is selected as code points of the document,
// and marks. A document is text: nothing of it is ever parsed as HTML.
//
// new leadline.DocumentPane(root), where root holds elements with these attributes (all but the first two may
// be missing): data-pane-text (scrolls, takes the focus), data-pane-status (aria-live), data-pane-name,
// data-pane-place, data-pane-earlier and data-pane-later (buttons).
//
//   await pane.open(number, {at: 120, marks: [{start: 120, end: 140, label: "label's quote"}]}): whether it is shown
//   pane.setMarks(marks)            await pane.show(start, end): goes there, and selects it
//   pane.marked                     {document, start, end, text} of what is selected, or null
//
// Events on root: "pane:open" (a document is shown), "pane:selection" (marked changed).
"use strict";
(() => {
  const MOST_SLICES = 4, NEAR_END = 600, HALVES = /[\ud800-\udfff]/;
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const thousands = (n) => n.toLocaleString("en");
  class Superseded extends Error {}

  // JavaScript counts halves of characters beyond U+FFFF, the server whole ones.
  function points(text) {
    if (!HALVES.test(text)) return text.length;
    let count = 0;
    for (const _ of text) count += 1;
    return count;
  }
  function units(text, count) {
    if (!HALVES.test(text)) return Math.min(count, text.length);
    let at = 0;
    for (const sign of text) {
      if (count-- <= 0) break;
      at += sign.length;
    }
    return at;
  }

  class DocumentPane {
    constructor(root) {
      this.root = root;
      this.part = (name) => root.querySelector(`[data-pane-${name}]`);
      this.text = this.part("text");
      this.number = null;
      this.slices = [];
      this.total = 0;
      this.marks = [];
      this.marked = null;
      this.turn = 0;
      this.body = document.createElement("div");
      this.body.className = "pane-body";
      this.text.replaceChildren(this.body);
      this.caret = null;  // see document_caret.js
      this.text.addEventListener("scroll", () => this.nearEnds());
      this.text.addEventListener("focus", () => this.focused());
      // Whoever presses on what is selected wants to select anew, and not to drag the text away.
      this.text.addEventListener("mousedown", (event) => {
        if (event.button !== 0 || event.shiftKey) return;
        window.getSelection().removeAllRanges();
        this.setMarked(null);
      });
      document.addEventListener("selectionchange", () => this.selected());
      this.part("earlier")?.addEventListener("click", () => this.extend("until"));
      this.part("later")?.addEventListener("click", () => this.extend("from"));
      this.state();
    }

    get start() { return this.slices.length ? this.slices[0].start : 0; }
    get end() { return this.slices.length ? this.slices.at(-1).end : 0; }

    async open(number, { at = 0, marks = null } = {}) {
      const turn = (this.turn += 1);
      if (number !== this.number) {
        this.slices = [];
        this.total = 0;
        this.body.replaceChildren();
        this.marks = [];
        this.spot = null;
      }
      if (marks) this.marks = marks;
      this.number = number;
      try {
        const slice = await this.get(`/api/documents/${number}?at=${at}`, turn);
        this.slices = [this.made(slice)];
        this.total = slice.total;
        this.name = slice.name;
        this.body.replaceChildren(this.slices[0].element);
        this.text.scrollTop = 0;
        if (this.part("name")) this.part("name").textContent = slice.name;
        this.text.setAttribute("aria-label", `Text of ${slice.name}`);
        this.say("");
        this.setMarked(null);
        this.state();
        if (at) this.reveal(this.range(at, at));
        this.caret?.draw();
        this.root.dispatchEvent(new CustomEvent("pane:open", { bubbles: true, detail: { number } }));
        return true;
      } catch (error) { this.failed(error); }
      this.state();
      return false;
    }

    async show(start, end) {
      // A slice that is opened at a place goes on for three times the longest quote behind it.
      const isSeen = () => this.slices.length > 0 && start >= this.start && end <= this.end;
      if (!isSeen() && !((await this.open(this.number, { at: start })) && isSeen())) return;
      this.spot = { start, end, isSpot: true };  // seen where the focus is elsewhere, and the selection with it
      this.setMarks(this.marks);
      const range = this.range(start, end);
      const selection = window.getSelection();
      this.text.focus({ preventScroll: true });
      selection.removeAllRanges();
      selection.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
      this.selected();
      this.reveal(range);
      this.caret?.draw();
    }

    // Fields have selections of their own: what is marked here is selected again when the focus comes back.
    focused() {
      const { focusNode } = window.getSelection();
      if (this.marked && !(focusNode && this.body.contains(focusNode))) {
        const { start, end } = this.marked;
        if (start >= this.start && end <= this.end) {
          window.getSelection().setBaseAndExtent(...this.place(start), ...this.place(end));
        }
      }
      this.caret?.draw();
    }

    setMarks(marks) {
      this.marks = marks;
      for (const slice of this.slices) this.fill(slice);
    }

    // The next or the earlier slice. What is farthest away goes, unless something is selected in it.
    async extend(way) {
      const at = way === "from" ? this.end : this.start;
      if (!this.slices.length || this.extending || (way === "from" ? at >= this.total : at <= 0)) return;
      this.extending = true;
      try {
        const slice = this.made(await this.get(`/api/documents/${this.number}?${way}=${at}`, this.turn));
        if ((way === "from" ? slice.start : slice.end) !== at) return;
        const before = this.text.scrollHeight, top = this.text.scrollTop;
        if (way === "from") { this.slices.push(slice); this.body.append(slice.element); }
        else {
          this.slices.unshift(slice);
          this.body.prepend(slice.element);
          this.text.scrollTop = top + this.text.scrollHeight - before;
        }
        if (this.slices.length > MOST_SLICES) this.drop(way === "from" ? 0 : this.slices.length - 1);
        this.state();
      } catch (error) { this.failed(error); } finally { this.extending = false; }
    }

    drop(place) {
      const { element } = this.slices[place];
      if (window.getSelection().containsNode(element, true)) return;
      const before = this.text.scrollHeight, top = this.text.scrollTop;
      element.remove();
      this.slices.splice(place, 1);
      if (place === 0) this.text.scrollTop = top + this.text.scrollHeight - before;
    }

    nearEnds() {
      if (!this.slices.length) return;
      const { scrollTop, scrollHeight, clientHeight } = this.text;
      if (scrollTop + clientHeight > scrollHeight - NEAR_END) this.extend("from");
      else if (scrollTop < NEAR_END / 2) this.extend("until");
    }

    made({ text, start, end, total, name }) {
      const slice = { text, start, end, total, name, element: document.createElement("span") };
      this.fill(slice);
      return slice;
    }

    // The slice's text, cut where marks begin and end.
    fill({ text, start, end, element }) {
      const own = [...(this.spot ? [this.spot] : []), ...this.marks].filter((mark) => mark.start < end && mark.end > start);
      const cuts = new Set([start, end]);
      for (const mark of own) { cuts.add(Math.max(mark.start, start)); cuts.add(Math.min(mark.end, end)); }
      const places = [...cuts].sort((a, b) => a - b);
      const nodes = [];
      let at = 0;
      for (let i = 0; i + 1 < places.length; i += 1) {
        const to = i + 2 < places.length ? at + units(text.slice(at), places[i + 1] - places[i]) : text.length;
        const node = document.createTextNode(text.slice(at, to));
        const mark = own.find((one) => one.start <= places[i] && one.end >= places[i + 1]);
        if (mark) {
          const element = document.createElement("mark");
          if (mark.label) element.title = mark.label;
          if (mark.isSpot) element.className = "pane-spot";
          element.append(node);
          nodes.push(element);
        } else nodes.push(node);
        at = to;
      }
      element.replaceChildren(...nodes);
    }

    // A range of the page for characters start to end of the document.
    range(start, end) {
      const range = document.createRange();
      range.setStart(...this.place(start));
      range.setEnd(...this.place(end));
      return range;
    }
    place(at) {
      const slice = this.slices.find((one) => at < one.end) || this.slices.at(-1);
      let rest = units(slice.text, at - slice.start);
      const walker = document.createTreeWalker(slice.element, NodeFilter.SHOW_TEXT);
      let last = null;
      while (walker.nextNode()) {
        last = walker.currentNode;
        if (rest < last.length) return [last, rest];
        rest -= last.length;
      }
      return last ? [last, last.length] : [slice.element, 0];
    }
    offset(node, within) {
      const range = document.createRange();
      range.selectNodeContents(this.body);
      range.setEnd(node, within);
      return this.start + points(range.toString());
    }

    selected() {
      const selection = window.getSelection();
      if (!selection.rangeCount || !this.slices.length) return;
      const range = selection.getRangeAt(0);
      if (!range.intersectsNode(this.body)) return;  // somewhere else: what was marked stays marked
      this.caret?.draw();
      if (range.collapsed) { if (this.body.contains(range.startContainer)) this.setMarked(null); return; }
      const inside = (node) => this.body.contains(node);
      const start = inside(range.startContainer) ? this.offset(range.startContainer, range.startOffset) : this.start;
      const end = inside(range.endContainer) ? this.offset(range.endContainer, range.endOffset) : this.end;
      const text = this.slices.map((slice) => slice.text).join("");
      const from = units(text, start - this.start);
      const to = from + units(text.slice(from), end - start);
      this.setMarked(start < end ? { document: this.number, start, end, text: text.slice(from, to) } : null);
    }
    setMarked(marked) {
      if (!marked && !this.marked) return;
      this.marked = marked;
      this.root.dispatchEvent(new CustomEvent("pane:selection", { bubbles: true, detail: marked }));
    }

    reveal(range) {
      const box = range.getClientRects()[0], frame = this.text.getBoundingClientRect();
      if (box) this.text.scrollTop += box.top - frame.top - frame.height / 3;
    }

    // JSON of the server, asked again while the document is being read.
    async get(url, turn) {
      for (let wait = 250; ; wait = Math.min(wait * 1.5, 3000)) {
        const answer = await fetch(url, { headers: { Accept: "application/json" } });
        const body = await answer.json().catch(() => ({}));
        if (turn !== this.turn) throw new Superseded();
        if (answer.status !== 202) {
          if (!answer.ok) throw new Error(body.error || `the server answers ${answer.status}`);
          return body;
        }
        this.say("the document is being read…");
        await sleep(wait);
      }
    }
    failed(error) {
      if (error instanceof Superseded) return;
      this.say(error instanceof TypeError ? "the server does not answer" : error.message);
    }
    say(words) { this.part("status").textContent = words; }
    state() {
      const has = this.slices.length > 0;
      const earlier = this.part("earlier"), later = this.part("later"), place = this.part("place");
      if (earlier) earlier.disabled = !has || this.start <= 0;
      if (later) later.disabled = !has || this.end >= this.total;
      if (place) place.textContent = has ? `characters ${thousands(this.start)}–${thousands(this.end)} of ${thousands(this.total)}` : "";
    }
  }

  window.leadline = Object.assign(window.leadline || {}, { DocumentPane, thousands });
})();

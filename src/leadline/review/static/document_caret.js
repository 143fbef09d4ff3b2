// A caret in the text of a pane, so that keys alone can select: arrows move it, with Shift they select; Ctrl
// takes words, Home and End lines, Page keys screens, Ctrl+Home and Ctrl+End the whole document.
//
// new leadline.PaneCaret(pane)
"use strict";
(() => {
  class PaneCaret {
    constructor(pane) {
      this.pane = pane;
      this.text = pane.text;
      this.element = document.createElement("div");
      this.element.className = "pane-caret";
      this.element.hidden = true;
      this.element.setAttribute("aria-hidden", "true");
      this.text.append(this.element);
      this.text.addEventListener("keydown", (event) => this.key(event));
      this.text.addEventListener("blur", () => { this.element.hidden = true; });
      window.addEventListener("resize", () => this.draw());
      pane.caret = this;
    }

    // Text that cannot be edited has no caret of its own everywhere: this one is drawn where the selection is.
    key(event) {
      const selection = window.getSelection();
      const word = event.ctrlKey || event.altKey;
      const line = "line", sign = word ? "word" : "character";
      const moves = {
        ArrowLeft: ["left", sign], ArrowRight: ["right", sign], ArrowUp: ["backward", line],
        ArrowDown: ["forward", line], Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"],
        PageUp: ["backward", line, "page"], PageDown: ["forward", line, "page"],
      };
      if (event.key === "Escape" && !selection.isCollapsed) { selection.collapseToStart(); event.preventDefault(); return; }
      if (!moves[event.key] || event.metaKey || !this.pane.slices.length) return;
      event.preventDefault();
      event.stopPropagation();
      if (word && event.key === "Home") { this.jump(0); return; }
      if (word && event.key === "End") { this.jump(this.pane.total); return; }
      if (!selection.focusNode || !this.pane.body.contains(selection.focusNode)) selection.setPosition(...this.firstSeen());
      const [way, by, page] = moves[event.key];
      const height = parseFloat(getComputedStyle(this.pane.body).lineHeight) || 20;
      const times = page ? Math.max(1, Math.floor(this.text.clientHeight / height) - 1) : 1;
      for (let i = 0; i < times; i += 1) selection.modify(event.shiftKey ? "extend" : "move", way, by);
      this.draw(true);
    }
    async jump(at) {
      if ((at < this.pane.start || at > this.pane.end) && !(await this.pane.open(this.pane.number, { at }))) return;
      window.getSelection().setPosition(...this.pane.place(Math.min(at, this.pane.end)));
      this.draw(true);
    }
    firstSeen() {
      const box = this.text.getBoundingClientRect();
      const point = [box.left + 12, box.top + 12];
      const caret = document.caretPositionFromPoint?.(...point);
      const range = caret ? null : document.caretRangeFromPoint?.(...point);
      const [node, at] = caret ? [caret.offsetNode, caret.offset] : [range?.startContainer, range?.startOffset];
      return node && this.pane.body.contains(node) ? [node, at] : this.pane.place(this.pane.start);
    }
    // A place beside the end of a line or of a mark has no box of its own everywhere: it lies before the character
    // behind it, or behind the one before it.
    box(node, at) {
      const range = document.createRange(), { pane } = this;
      range.setStart(node, at);
      if (range.getClientRects().length) return range.getClientRects()[0];
      if (!pane.slices.length) return null;
      const here = pane.offset(node, at);
      for (const [start, edge, which] of [[here, "left", 0], [here - 1, "right", -1]]) {
        if (start < pane.start || start >= pane.end) continue;
        const found = [...pane.range(start, start + 1).getClientRects()].at(which);
        if (found) return new DOMRect(found[edge], found.top, 0, found.height);
      }
      return pane.total ? null : pane.body.getBoundingClientRect();
    }
    draw(follow = false) {
      const { focusNode: node, focusOffset: at } = window.getSelection();
      const isHere = node && this.pane.body.contains(node) && document.activeElement === this.text;
      this.element.hidden = !isHere;
      if (!isHere) return;
      const box = this.box(node, at);
      this.element.hidden = !box;
      if (!box) return;
      const frame = this.text.getBoundingClientRect();
      this.element.style.left = `${box.left - frame.left - this.text.clientLeft + this.text.scrollLeft}px`;
      this.element.style.top = `${box.top - frame.top - this.text.clientTop + this.text.scrollTop}px`;
      this.element.style.height = `${Math.min(box.height || 18, 40)}px`;
      if (!follow) return;
      if (box.bottom > frame.bottom - 24) this.text.scrollTop += box.bottom - frame.bottom + 48;
      if (box.top < frame.top + 24) this.text.scrollTop -= frame.top - box.top + 48;
    }
  }

  window.leadline = Object.assign(window.leadline || {}, { PaneCaret });
})();

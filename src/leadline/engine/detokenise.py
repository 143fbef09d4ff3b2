"""The text of a sequence of tokens, token by token, as far as it is certain.

Decoding everything at every token would be quadratic, and tokens cannot be decoded one by one: a character
may be cut by a token's border, and some tokenizers drop a space that begins a text. So a few tokens are
decoded together, with those before them and without, and what is new is the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leadline.engine.token_bytes import TokenBytes

_INCOMPLETE = "\ufffd"


class Detokeniser:
    """Fed with tokens, gives their text; joined it is a beginning of what decoding all of them gives.

    `text` is certain; `settled` counts the tokens whose whole text is in it. `ends[i]` is how long the text
    was after token i.
    """

    def __init__(self, decode: Callable[[list[int]], str], spelling: TokenBytes) -> None:
        """`decode` leaves special tokens out."""
        self.decode, self.spelling = decode, spelling
        self.ids: list[int] = []
        self.text = ""
        self.settled = 0
        self.ends: list[int] = []
        self._begin = 0  # the window that is decoded: [_begin, settled) is known and gives `_known`
        self._known = ""
        self._in_bytes = False

    def push(self, token: int) -> None:
        """Add one token."""
        self.ids.append(token)
        if token in self.spelling.fallback:
            # A run of single bytes is text only as a whole: one bad byte spoils the characters before it.
            self._in_bytes = True
        elif token not in self.spelling.special:
            if self._in_bytes:
                self._take(len(self.ids) - 1, whatever=True)
                self.ends[-1] = len(self.text)
            self._in_bytes = False
        if not self._in_bytes:
            self._take(len(self.ids))
        self.ends.append(len(self.text))

    def _take(self, end: int, whatever: bool = False) -> None:
        """Decode up to token `end`, unless the text there may still change."""
        window = self.decode(self.ids[self._begin : end])
        new = window[len(self._known) :]
        if not new or (new.endswith(_INCOMPLETE) and not whatever):
            return
        self.text += new
        begin, self._begin, self.settled = self._begin, self.settled, end
        self._known = window if begin == self._begin else self.decode(self.ids[self._begin : end])

    def pieces(self, text: str) -> list[str]:
        """What of the final `text` came with each token; joined it is `text`."""
        ends = [min(end, len(text)) for end in self.ends]
        if ends:
            ends[-1] = len(text)
        return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def pieces_of(tokens: Sequence[int], decode: Callable[[list[int]], str], spelling: TokenBytes) -> list[str]:
    """The piece of the whole text that came with each token; see `Detokeniser.pieces`."""
    unfolding = Detokeniser(decode, spelling)
    for token in tokens:
        unfolding.push(token)
    return unfolding.pieces(decode(list(tokens)))

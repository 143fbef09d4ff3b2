"""Characters of the private use area that stand in a text while it is made, where something was taken out.

They travel with the text through every edit, so that what was lost is known to lie in a sentence whatever
becomes of the characters around it. A page's own characters of that range are taken out first.
"""

from __future__ import annotations

from typing import Final

REMOVED: Final = "\ue000"  # something that no reader takes for part of the sentence: a footnote, an image
LOSSY: Final = "\ue001"  # words that the reader sees and the text lacks
LEFT: Final = "\ue002"  # markup that could not be read
BREAK: Final = "\ue003"  # a paragraph ends here
UNKNOWN: Final = "\ue004"  # a template that nothing is known of: lossy if it stood among words
RAISED: Final = "\ue005"  # a superscript begins here
LOWERED: Final = "\ue006"  # and ends here

ASIDE: Final = "\ue007"  # how a name is said or written elsewhere: lossy, unless its whole bracket is of that

MARKS: Final = "\ue000-\ue007"
"""For character classes of regular expressions."""

DAMAGE: Final = {LOSSY: "template", UNKNOWN: "template", LEFT: "markup"}
"""What a mark says of the sentence around it."""

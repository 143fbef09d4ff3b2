"""The pages that the facts of a benchmark come from: their texts as they were read, where they lie."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from leadline.build.parts import reading
from leadline.build.records import Article, Fact, Support
from leadline.build.workspace import Workspace
from leadline.documents.file_name import file_name

# An article's id is the first thing on its line: other lines need not be parsed.
_ID = re.compile(rb'\{"id":("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, order=True)
class Page:
    """A page by id and title: ids alone may occur twice where articles come from several inputs."""

    id: str
    title: str


def page_of(fact: Fact, support: Support) -> Page:
    """The page on which a supporting sentence stands."""
    return Page(support.article or fact.article, support.title or fact.title)


def articles_of(work: Workspace, wanted: Iterable[Page]) -> Iterator[Article]:
    """The articles of those pages, in the order of the build; each once."""
    lacking = set(wanted)
    ids = {json.dumps(page.id, ensure_ascii=False).encode() for page in lacking}

    def is_wanted(line: bytes) -> bool:
        found = _ID.match(line)
        return found is None or found[1] in ids

    for part in work.stage("articles").parts():
        for article in reading(part, Article, only=is_wanted):
            page = Page(article.id, article.title)
            if page in lacking:
                lacking.discard(page)
                yield article
        if not lacking:
            return


def stored_name(article: Article) -> str:
    """The name of the file in which a benchmark keeps an article's text: by title and content."""
    sum_ = hashlib.sha256(article.text.encode()).hexdigest()
    return file_name(f"{article.title}.txt", "text/plain", sum_)


def address(language: str, title: str, revision: str = "") -> str:
    """Where Wikipedia has a page: of that revision, where it is known.

    >>> address("en", "9/11 conspiracy theories", "12")
    'https://en.wikipedia.org/w/index.php?title=9/11_conspiracy_theories&oldid=12'
    """
    name = quote(title.replace(" ", "_"), safe="/:,()!*'-._~")
    if revision.isdigit():
        return f"https://{language}.wikipedia.org/w/index.php?title={name}&oldid={revision}"
    return f"https://{language}.wikipedia.org/wiki/{name}"

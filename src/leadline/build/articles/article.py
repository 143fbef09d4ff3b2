"""One page of the input: an article, or the reason why it is none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from leadline.build.articles.filters import is_disambiguation, is_list, is_redirect, words
from leadline.build.articles.page import Page
from leadline.build.articles.polish import Plain
from leadline.build.articles.sentences import sentences
from leadline.build.articles.wikitext import NAMESPACES, plain_text
from leadline.build.records import Article, DroppedPage

_MAY_REFER = re.compile(
    r"\A\s*[^\n]{1,200}\b(?:may|can|could|might) (?:also |commonly )?(?:refer|stand) (?:to|for)\s*:?\s*$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Rules:
    """What the plan says of articles."""

    language: str = "en"
    min_words: int = 100


def article_of(page: Page, rules: Rules) -> Article | DroppedPage:
    """An article with sentences and links, or a page that is dropped with the first reason that holds.

    >>> article_of(Page("1", "Talk:Pear", "Pears!", namespace=1), Rules()).reason
    'namespace'
    """
    reason, detail = _at_sight(page)
    if reason:
        return _dropped(page, reason, detail)
    try:
        plain = _plain(page)
    except (ValueError, RecursionError) as error:
        return _dropped(page, "broken", str(error))
    count = words(plain.text)
    if is_disambiguation(page.title, page.text if page.wikitext else "") or (
        not page.wikitext and _MAY_REFER.match(page.text)
    ):
        return _dropped(page, "disambiguation", f"{count} words")
    if not plain.text:
        return _dropped(page, "empty", "only boxes, tables or images")
    if count < rules.min_words:
        return _dropped(page, "short", f"{count} words")
    return Article(
        id=page.id,
        title=page.title,
        text=plain.text,
        sentences=sentences(plain.text, rules.language, plain.damage),
        links=plain.links,
        entity=page.entity,
        revision=page.revision,
        timestamp=page.timestamp,
    )


def _at_sight(page: Page) -> tuple[str, str]:
    """The reason that shows before a page's text is made plain, and its detail."""
    if page.redirect or is_redirect(page.text):
        found = re.search(r"\[\[([^\]\n|]{1,255})", page.text)
        return "redirect", found[1].strip() if found else ""
    if page.namespace != 0:
        return "namespace", str(page.namespace)
    if not page.text.strip():
        return "empty", ""
    if is_list(page.title, page.text if page.wikitext else ""):
        return "list", ""
    return "", ""


def _plain(page: Page) -> Plain:
    if page.wikitext:
        return plain_text(page.text, page.title, page.namespaces or NAMESPACES)
    return Plain(page.text)


def _dropped(page: Page, reason: str, detail: str) -> DroppedPage:
    return DroppedPage(id=page.id, title=page.title, reason=reason, detail=detail)

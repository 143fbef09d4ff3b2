"""A fabricated audit: every state, route and failure type, several spans, overlaps, and hostile texts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from leadline.audit.document import (
    AnswerStated,
    AuditDocument,
    AuditedBenchmark,
    Failure,
    ItemVerdict,
    Place,
    Route,
    SelfTest,
    SpanCheck,
    State,
    Trial,
)
from leadline.report.audit_texts import ItemTexts

CREATED = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)
HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    '=HYPERLINK("http://example.org","click") \x1b[31mred\x1b[0m @everyone #1 [x](javascript:alert(1)) |',
    "\u202eright to left\u202c عاصمة النرويج </textarea></details>",
)
WINDOW = (
    "8. Termination. You may not propagate or modify a covered work except as expressly provided.\n\n"
    "If you cease all violation of this licence, then your licence from a particular holder is reinstated "
    "provisionally, unless and until the holder explicitly and finally terminates your licence, and "
    "permanently, if the holder fails to notify you of the violation prior to 60 days after the cessation."
)


def span(window: str, text: str, **more: Any) -> SpanCheck:
    """A span at its place in the window, or without one where it is not there."""
    start = window.find(text)
    place = Place(start=start, end=start + len(text)) if start >= 0 else None
    return SpanCheck(text=text, in_window=place, **more)


def self_test(passed: bool = True) -> SelfTest:
    """Three kinds of trial, the second of which goes wrong unless the test passes."""
    wrong = 0 if passed else 7
    return SelfTest(
        passed=passed,
        trials=(
            Trial(name="a quote of its own window passes", tried=40, right=40),
            Trial(
                name="the same with one number changed fails",
                tried=32,
                right=32 - wrong,
                failures=() if passed else ("a-1: <b>“60 days”</b> changed to “61 days” passed \x1b[2J",),
            ),
            Trial(name="an excerpt of another item fails", tried=40, right=40),
        ),
        note=f"{112 - wrong} of 112 trials on 40 windows of this benchmark came out right",
    )


def item(name: str, **more: Any) -> ItemVerdict:
    """A verdict on an item without faults, but for what `more` says."""
    fields: dict[str, Any] = {
        "item": name,
        "task": "cure_period",
        "category": "termination",
        "answer_type": "number",
        "where": f"bench/items.jsonl:{sum(map(ord, name)) % 90 + 1}",
        "state": State.PRESENT,
        "route": Route.DECLARED,
        "source": "gpl-3.0.txt",
        "quote_in_window": True,
        "quote_in_source": True,
        "answer_in_window": AnswerStated.STATED,
        "flagged": False,
        "spans": (
            span(WINDOW, "prior to 60 days after the cessation", in_source=Place(start=9000, end=9036)),
        ),
    }
    return ItemVerdict.model_validate(fields | more)


def verdicts() -> tuple[ItemVerdict, ...]:
    """Twenty-two items: twelve are fine, two of these with remarks; ten are flagged."""
    absent: dict[str, Any] = {
        "quote_in_window": False,
        "flagged": True,
        "answer_in_window": AnswerStated.NOT_STATED,
    }
    unheld: dict[str, Any] = {
        "state": State.NOT_CHECKABLE,
        "route": Route.UNRESOLVED,
        "quote_in_source": None,
        "source": "https://example.org/filing?id=1&part=2",
    }
    return (
        *(item(f"fine-{number}") for number in range(8)),
        item("elsewhere", route=Route.ELSEWHERE, source="lgpl-3.0.txt"),
        item("unheld", category="patents", task="grant", answer_type="boolean", **unheld),
        item("circular", remarks=("the window is cut from the quote itself: it holds nothing else",)),
        item(
            "giveaway", category="", task="", remarks=("the prompt gives the answer away: “60”", HOSTILE[1])
        ),
        item(
            "absent-1",
            failure=Failure.EVIDENCE_ABSENT,
            spans=(
                span(
                    WINDOW,
                    "If you cease all violation of this licence",
                    in_source=Place(start=8000, end=8042),
                ),
                span(
                    WINDOW,
                    "if the holder fails to notify you within 30 days after the cessation",
                    in_source=Place(start=8800, end=8868),
                    nearest="if the holder fails to notify you of the violation prior to 60 days after the "
                    "cessation",
                    similarity=0.81,
                ),
                span(WINDOW, "and also", required=False),
            ),
            reasons=(
                "1 of 2 required spans is not in the window: “if the holder fails to notify you within 30 "
                "days after the cessation”; the nearest text is 81 % alike",
            ),
            **absent,
        ),
        item(
            "absent-2",
            failure=Failure.EVIDENCE_ABSENT,
            spans=(span(WINDOW, "a sentence of another chapter"),),
            reasons=("the quote is not in the window, and nothing there is like it",),
            **absent,
        ),
        item(
            "absent-3",
            state=State.ABSENT,
            quote_in_source=False,
            failure=Failure.EVIDENCE_ABSENT,
            spans=(span(WINDOW, "a paraphrase of the clause"),),
            reasons=("the quote is not in the window", "the quote is not in its source gpl-3.0.txt"),
            **absent,
        ),
        item(
            "share-1",
            category="figures",
            task="share",
            failure=Failure.COMPUTATIONAL,
            derivation="81,575 / 1,362,500 = 5.99 %",
            spans=(span(WINDOW, "81,575 shares of 1,362,500"),),
            reasons=("the quote is not in the window; its numbers are: the label can be calculated",),
            **absent,
            **unheld,
        ),
        item(
            "share-2",
            category="figures",
            task="share",
            failure=Failure.COMPUTATIONAL,
            derivation="(120 − 8.5 − 61.25 − 9) / 108.1 = 0.38",
            spans=(span(WINDOW, "Implied Per Share Reference Range ... $0.38"),),
            reasons=("the quote points at a table; the label can be calculated from the window",),
            **absent,
        ),
        item(
            "untraceable",
            category="patents",
            task="grant",
            answer_type="boolean",
            state=State.ABSENT,
            quote_in_source=False,
            flagged=True,
            failure=Failure.LABEL_UNTRACEABLE,
            answer_in_window=AnswerStated.UNDECIDABLE,
            reasons=("the quote is in no document held",),
        ),
        item(
            "stated",
            failure=Failure.ANSWER_STATED,
            spans=(span(WINDOW, "sixty days after you stop"),),
            reasons=("the quote is not in the window; the answer 60 is stated there",),
            **(absent | {"answer_in_window": AnswerStated.STATED}),
        ),
        item("unknown", reasons=("the window could not be checked",), **absent),
        item(
            "<b>hostile</b> @everyone",
            category=HOSTILE[0],
            task="=1+1",
            failure=Failure.EVIDENCE_ABSENT,
            spans=(span(HOSTILE[2], HOSTILE[2][:20], nearest=HOSTILE[1], similarity=0.2),),
            reasons=HOSTILE,
            source="javascript:alert(1)",
            where="bench with space/ïtems.jsonl:7",
            **absent,
        ),
        item(
            "=cmd|' /C calc'!A0",
            failure=Failure.EVIDENCE_ABSENT,
            quote_in_window=False,
            flagged=True,
            spans=(),
            reasons=("-1 of 2",),
            where="",
        ),
    )


def audit_document(passed: bool = True, items: tuple[ItemVerdict, ...] | None = None) -> AuditDocument:
    """The audit of a benchmark of 22 items; without verdicts when the self-test failed."""
    items = verdicts() if items is None else items
    return AuditDocument(
        leadline_version="0.3.0",
        created=CREATED,
        benchmark=AuditedBenchmark(
            name="terms",
            version="1.2",
            path="bench",
            content_hash="sha256:" + "ab12" * 16,
            evidence_hash="sha256:" + "cd34" * 16,
            items=len(items),
            sources=14,
        ),
        self_test=self_test(passed),
        items=items if passed else (),
    )


def item_texts(document: AuditDocument) -> dict[str, ItemTexts]:
    """What was asked: of hostile items hostile texts, of one item no window."""
    texts = {}
    for verdict in document.items:
        hostile = "hostile" in verdict.item
        texts[verdict.item] = ItemTexts(
            question=HOSTILE[0]
            if hostile
            else f"Within how many days is the licence reinstated? ({verdict.item})",
            answer=HOSTILE[3] if hostile else "60",
            window=HOSTILE[2] + "\n" + HOSTILE[3]
            if hostile
            else None
            if verdict.item == "unknown"
            else WINDOW,
            quotes=tuple(entry.text for entry in verdict.spans),
        )
    return texts

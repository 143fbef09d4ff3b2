"""Empty answers that are asked again: the old ones are set aside and stay, the new ones count.

Who asks again what came out empty chooses among answers, so manifest, report and findings say how often.
"""

from __future__ import annotations

from collections import Counter

from leadline.study.judging import is_empty
from leadline.study.store import Key, Store
from leadline.study.study import Study

# Part of the random key of an answer that was set aside before, with how often.
_COUNTED = "SELECT item, asked, sample, COUNT(*) FROM set_aside WHERE configuration = ? GROUP BY 1, 2, 3"
_BY_RUN = "SELECT configuration, replaced, COUNT(*) FROM set_aside GROUP BY 1, 2 ORDER BY 1, 2"


def refills(store: Store, configuration: str) -> Counter[Key]:
    """How often each answer of a configuration was set aside."""
    rows = store.select("set_aside", _COUNTED, (configuration,))
    return Counter({Key(item, asked, sample): number for item, asked, sample, number in rows})


def set_aside(store: Store) -> dict[str, dict[int, int]]:
    """Configuration → run → answers that this run replaced."""
    found: dict[str, dict[int, int]] = {}
    for configuration, run, number in store.select("set_aside", _BY_RUN):
        found.setdefault(configuration, {})[run] = number
    return found


def empty_answers(study: Study, store: Store, configuration: str) -> dict[Key, int]:
    """The answers of a configuration in which there is nothing, with how often each was asked again."""
    before = refills(store, configuration)
    items = study.benchmark.by_id
    known: dict[tuple[str, str], bool] = {}
    found = {}
    for response in store.responses(configuration):
        key, item = response.key, items.get(response.key.item)
        if item is None or key.asked != study.asked(item):
            continue
        said = (item.id, response.text)
        if said not in known:
            known[said] = is_empty(item, response.text)
        if known[said] and response.finish != "content_filter":
            found[key] = before[key]
    return found

"""The whole protocol on 100 facts: `leadline run` against a script as papers' repositories have them.

Asked on both sides: the greedy baseline, the partitions of its failures (20 draws at τ 0.7 and 1.2, seed 42),
both temperatures as methods (20 draws, seed 0), RECITE with 20 paths, GenRead, DoLa, DeCoRe, Activation
Decoding, Contrastive Decoding, SLED, ITI, CAA and SADI, and the ranks of gold answers. Same model object,
dtype, threads, prompts, stops and longest answers. Not timed on either side: loading the model, fitting.

The script's cost is a sum over items, so it runs on some of the 100, drawn at random, half of them before our
run and half after it, and is scaled; the interval is that of the mean over items (Student's t, 95 %). Answers
of greedy methods and ranks must come out the same, and are counted.
"""

from __future__ import annotations

import math
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from goals import Goal
from papers_script import Script, Steering

from leadline.bench import Item
from leadline.engine.intervention import Intervention
from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.study.prepare import prepare
from leadline.study.progress import Quiet
from leadline.study.run import run_study
from leadline.study.store import open_store
from leadline.study.study import Study, open_study
from leadline.techniques.prepared import Prepared
from leadline.techniques.prompts_library import Prompts

Say = Callable[[str], None]
FACTS, SCRIPTED = 100, 4
STUDY = """\
name: protocol
benchmark: facts
items: {facts}
models: smollm2
techniques:
  - {{technique: recite, paths: {paths}, passage_tokens: {recited}}}
  - {{technique: genread, passage_tokens: {written}}}
  - dola
  - decore
  - activation-decoding
  - contrastive-decoding
  - sled
  - {{technique: iti, heads: 16, alpha: 5}}
  - caa
  - sadi
sampling: {{temperatures: [0.7, 1.2], vote: 10}}
beyond_sampling: {{k: {draws}, sweep: {draws}}}
"""
WHOLE = {"facts": FACTS, "paths": 20, "recited": 128, "written": 300, "draws": 20}
QUICK = {"facts": 2, "paths": 2, "recited": 8, "written": 8, "draws": 2}


class Clock(Quiet):
    """Listens to a run: seconds of the configurations that are asked together, by their labels."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, ...], float] = {}
        self._labels: list[str] = []
        self._begun, self._open = 0.0, 0

    def begin(self, label: str, total: int, done: int) -> None:
        """A configuration begins."""
        if not self._open:
            self._labels, self._begun = [], time.perf_counter()
        self._labels.append(label.rsplit(" · ", maxsplit=1)[-1])
        self._open += 1

    def end(self) -> None:
        """It is complete."""
        self._open -= 1
        if not self._open:
            self.seconds[tuple(self._labels)] = time.perf_counter() - self._begun


@dataclass
class Scripted:
    """What the script did: seconds for answers and for ranks, by method, one per item; answers and ranks of
    greedy methods, by (method, item)."""

    answering: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ranking: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    ranks: dict[tuple[str, str], int] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)

    def seconds(self) -> list[float]:
        """Of each item, all methods together."""
        columns = [*self.answering.values(), *self.ranking.values()]
        return [sum(column[at] for column in columns) for at in range(len(self.items))]


def measure(repeats: int, quick: bool, say: Say) -> list[dict[str, Any]]:
    """One row: seconds of ours, of the script by method and item, what came out equal. Ours runs once."""
    del repeats
    model = LocalModel(resolve("smollm2"))
    size, scripted = (QUICK, 1) if quick else (WHOLE, SCRIPTED)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "study")
        folder.mkdir()
        (folder / "study.yaml").write_text(STUDY.format(**size), encoding="utf-8")
        study = open_study(folder)
        say("fitting what has to be fitted, if it is not kept from before")
        prepared = {
            one.name: prepare(study, model, study.config.models[0], one.technique, Quiet())
            for one in study.configurations
        }
        script = _Protocol(study, model, prepared, size)
        drawn = Random(0).sample(list(study.benchmark.items), scripted)
        for item in drawn[: scripted // 2]:
            script.ask(item, say)
        clock = Clock()
        started = time.perf_counter()
        run_study(study, clock, load=lambda *_: model)
        seconds = time.perf_counter() - started
        say(f"leadline, {len(study.benchmark.items)} facts: {seconds:.1f} s")
        for item in drawn[scripted // 2 :]:
            script.ask(item, say)
        return [_row(study, model, script.did, seconds, clock.seconds)]


class _Protocol:
    """The script's methods, item by item."""

    def __init__(
        self, study: Study, model: LocalModel, prepared: dict[str, Prepared], size: dict[str, int]
    ) -> None:
        lm = model.lm
        self.lm, self.prepared, self.size, self.prompts = lm, prepared, size, study.prompts
        self.script = Script(lm.model, lm.tokenizer, lm.end_tokens)
        self.did = Scripted()
        self.loops = {name: self._loop(prepared[name].intervention) for name in LOOPS}

    def _loop(self, intervention: Intervention) -> Callable[..., Any]:
        """The formula of a decoding technique, with the settings that ours has."""
        ready: Any = intervention.decoding
        script = self.script
        return {
            "LayerContrast": lambda: script.dola(ready.places, ready.relative_top),
            "MaskedContrast": lambda: script.decore(ready.lane.mask.heads),
            "Sharpness": lambda: script.sharpness(ready.context, ready.alpha, ready.relative_top),
            "ExpertMinusAmateur": lambda: script.contrastive(
                ready.lane.amateur.model, ready.beta, ready.relative_top
            ),
            "LogitsEvolution": lambda: script.sled(ready.places, ready.rate, ready.scale),
        }[type(ready).__name__]()

    @contextmanager
    def _timed(self, name: str, kind: defaultdict[str, list[float]]) -> Iterator[None]:
        started = time.perf_counter()
        yield
        kind[name].append(time.perf_counter() - started)

    def ask(self, item: Item, say: Say) -> None:
        """Everything that the protocol asks about one item."""
        self.did.items.append(item.id)
        question = self.lm.text_of(self.prompts.question(item.question))
        token = self.lm.first_token(question, item.answer)
        self._greedy("greedy", item, question, token)
        failed = not _is_right(self.did.texts["greedy", item.id], item.valid_answers)
        for temperature in (0.7, 1.2):
            for part, is_asked in (("-partition", failed), ("", True)):
                with self._timed(f"tau-{temperature}{part}", self.did.answering):
                    if is_asked:
                        self.script.generate([question], 16, "\n", temperature, self.size["draws"])
        self._recite(item)
        with self._timed("genread", self.did.answering):
            asked = self._text("genread/background", item)
            passage = self.script.generate([asked], self.size["written"], "")[0]
        asked = self._text("genread/answer", item, passage)
        self._greedy("genread", item, asked, self.lm.first_token(asked, item.answer), so_far=True)
        for name, scores in self.loops.items():
            with self._timed(name, self.did.answering):
                self.did.texts[name, item.id] = self.script.decode(question, 16, "\n", scores)
            with self._timed(name, self.did.ranking):
                first = self.script.first(question, scores)
                self.did.ranks[name, item.id] = int((first > first[token]).sum()) + 1
        for name in STEERED:
            with self.script.steered(_steering(self.prepared[name].for_item(item.id))):
                self._greedy(name, item, question, token)
        say(f"script, {item.id}: {self.did.seconds()[-1]:.1f} s")

    def _greedy(self, name: str, item: Item, prompt: str, token: int, so_far: bool = False) -> None:
        """A greedy answer and the rank; `so_far`: an earlier stage's seconds are there to be added to."""
        with self._timed(name, self.did.answering):
            self.did.texts[name, item.id] = self.script.generate([prompt], 16, "\n")[0]
        if so_far:
            last = self.did.answering[name].pop()
            self.did.answering[name][-1] += last
        with self._timed(name, self.did.ranking):
            self.did.ranks[name, item.id] = self.script.ranks([prompt], token)[0]

    def _recite(self, item: Item) -> None:
        with self._timed("recite", self.did.answering):
            asked = self._text("recite/recite", item)
            passages = self.script.generate([asked], self.size["recited"], "\n\n", 0.7, self.size["paths"])
            texts = [self._text("recite/answer", item, passage) for passage in passages]
            self.script.generate(texts, 16, "\n")
        with self._timed("recite", self.did.ranking):
            self.script.ranks(texts, self.lm.first_token(texts[0], item.answer))

    def _text(self, name: str, item: Item, passage: str = "") -> str:
        prompts: Prompts = self.prompts
        more = {"passage": passage.strip()} if passage else {}
        return self.lm.text_of(prompts.render(name, question=item.question, **more))


LOOPS = ("dola", "decore", "activation-decoding", "contrastive-decoding", "sled")
STEERED = ("iti", "caa", "sadi")


def _steering(intervention: Intervention) -> Steering:
    edits = intervention.edits
    return Steering(
        edits[0].site,
        {edit.layer: edit.shift for edit in edits if edit.shift is not None},
        {edit.layer: edit.scale for edit in edits if edit.scale is not None},
    )


def _is_right(text: str, answers: tuple[str, ...]) -> bool:
    """A valid answer stands in the text, but for case, white space and signs."""
    said, *valid = (re.sub(r"[\W_]", "", each).casefold() for each in (text, *answers))
    return any(each and each in said for each in valid)


def _row(
    study: Study, model: LocalModel, did: Scripted, seconds: float, by_labels: dict[tuple[str, ...], float]
) -> dict[str, Any]:
    equal: dict[str, int] = {}
    same_ranks: dict[str, int] = {}
    unequal = []
    by_id = study.benchmark.by_id
    names = {one.label: one.name for one in study.configurations}
    with open_store(study.folder, write=False) as store:
        for one in study.configurations:
            if one.name not in ("greedy", "genread", *LOOPS, *STEERED):
                continue
            equal[one.name] = same_ranks[one.name] = 0
            for response in store.responses(study.configuration_id(one, model.identity)):
                at = one.name, response.key.item
                if at not in did.texts:
                    continue
                gold = by_id[response.key.item].answer
                rank = next(probe.rank for probe in response.probes if probe.answer == gold)
                equal[one.name] += response.text == did.texts[at]
                same_ranks[one.name] += rank == did.ranks[at]
                if response.text != did.texts[at] or rank != did.ranks[at]:
                    pair = {"leadline": [response.text, rank], "script": [did.texts[at], did.ranks[at]]}
                    unequal.append({"method": one.name, "item": response.key.item, **pair})
    return {
        "facts": len(study.benchmark.items),
        "scripted": len(did.items),
        "leadline_s": seconds,
        "leadline_together_s": [
            {"methods": [names[label] for label in labels], "s": taken} for labels, taken in by_labels.items()
        ],
        "script_by_item_s": did.seconds(),
        "script_answers_s": dict(did.answering),
        "script_ranks_s": dict(did.ranking),
        "equal": equal,
        "equal_ranks": same_ranks,
        "unequal": unequal,
    }


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """Goal 2."""
    from scipy.stats import t

    row = found[0]
    each, count = row["script_by_item_s"], row["scripted"]
    mean = statistics.mean(each)
    half = 0.0  # of one item, nothing is known
    if count > 1:
        half = float(t.ppf(0.975, count - 1)) * statistics.stdev(each) / math.sqrt(count)
    ratio, low, high = (
        row["facts"] * value / row["leadline_s"] for value in (mean, mean - half, mean + half)
    )
    asked = count * len(row["equal"])
    ranks = sum(map(sum, row["script_ranks_s"].values())) / sum(each)
    return [
        Goal(
            number="2",
            what=f"the whole protocol on {row['facts']} facts",
            against="transformers.generate per item and method",
            target=8,
            ratio=ratio,
            low=max(0.0, low),
            high=high,
            how=f"the script on {count} random facts, scaled, 95 % interval over facts; of greedy methods "
            f"{sum(row['equal'].values())} of {asked} answers and {sum(row['equal_ranks'].values())} ranks "
            f"equal; without the script's passes for ranks {ratio * (1 - ranks):.1f}×",
            reason="Against what people would use instead",
        )
    ]

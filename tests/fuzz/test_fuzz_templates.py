"""A template from a benchmark or a user takes neither the time nor the memory of whoever fills it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import LeadlineError
from leadline.techniques.prompts_library import Prompts
from tests.fuzz.limits import examples, held
from tests.fuzz.mutations import broken

pytestmark = pytest.mark.fuzz

ENDLESS = {
    "loops in loops": (
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor "
        "%}{% endfor %}{% endfor %}"
    ),
    "a loop that says nothing": (
        "{% for a in range(100000) %}{% for b in range(100000) %}{% if false %}{% endif %}{% endfor "
        "%}{% endfor %}"
    ),
    "a range without end": "{% for a in range(10**9) %}a{% endfor %}",
    "a list of a range": "{{ range(10**9)|list|length }}",
    "lists doubled": (
        "{% set n = namespace(l=['a']) %}{% for i in range(60) %}{% set n.l = n.l + n.l %}{% endfor "
        "%}{{ n.l|length }}"
    ),
    "texts doubled": (
        "{% set n = namespace(l='aaaaaaaa') %}{% for i in range(60) %}{% set n.l = n.l ~ n.l %}{% "
        "endfor %}{{ n.l|length }}"
    ),
    "texts replaced": (
        "{% set n = namespace(l='aaaaaaaa') %}{% for i in range(60) %}{% set n.l = n.l.replace('a', "
        "'aa') %}{% endfor %}x"
    ),
    "texts replaced by a filter": (
        "{% set n = namespace(l='aaaaaaaa') %}{% for i in range(60) %}{% set n.l = n.l|replace('a', "
        "'aa') %}{% endfor %}x"
    ),
    "texts joined": (
        "{% set n = namespace(l='aaaaaaaa') %}{% for i in range(60) %}{% set n.l = [n.l, n.l]|join %}{% "
        "endfor %}x"
    ),
    "texts joined by themselves": (
        "{% set n = namespace(l='aaaaaaaa') %}{% for i in range(20) %}{% set n.l = n.l.join(n.l) %}{% "
        "endfor %}x"
    ),
    "a long text": "{{ 'a' * 10**10 }}",
    "a long list": "{{ ([1] * 10**10)|length }}",
    "a long number": "{{ 9**9**9**9 }}",
    "numbers squared": (
        "{% set n = namespace(l=9) %}{% for i in range(60) %}{% set n.l = n.l * n.l %}{% endfor %}x"
    ),
    "shifted": "{{ (1).__lshift__(10**12) }}",
    "macros that call themselves": "{% macro m(x) %}{{ m(x) }}{{ m(x) }}{% endmacro %}{{ m(1) }}",
    "macros that call each other": (
        "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(40) }}"
    ),
    "loops that recur": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "blocks of text": (
        "{% filter upper %}{% for a in range(99999) %}{{ 'a' * 9999 }}{% endfor %}{% endfilter %}"
    ),
    "a set of blocks": (
        "{% set x %}{% for a in range(99999) %}{{ 'a' * 9999 }}{% endfor %}{% endset %}{{ x|length }}"
    ),
    "lorem": "{{ lipsum(n=100000) }}",
    "cycles": "{{ cycler(*range(99999)) }}",
    "widths": "{{ '%999999999d' % 1 }}{{ '%999999999d'|format(1) }}",
    "the widths of a format": "{{ '{:999999999d}'.format(1) }}",
    "brackets": "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
    "nested ifs": "{% if 1 %}" * 2_000 + "{% endif %}" * 2_000,
    "a chain of filters": "{{ 'a'" + "|upper" * 5_000 + " }}",
    "a sum of texts": "{{ " + " ~ ".join(["question"] * 3_000) + " }}",
    "translated": "{{ ('a' * 100000).translate({97: 'b' * 100000})|length }}",
    "sorted products": "{{ (['a' * 9999] * 9999)|join|length }}",
    "urlized": "{{ ('http://a.b ' * 900000)|urlize|length }}",
    "stripped of tags": "{{ ('<' * 1000000)|striptags|length }}",
    "turned over": "{{ question|list|reverse|join }}",
    "unzipped": "{{ 'a'.encode('utf-8').zfill(10**10) }}",
    "partitions": "{{ ('a' * 9000000).split('a')|map('upper')|list|map('list')|list|length }}",
    "whole numbers from text": "{{ ('9' * 4000000)|int }}",
}

PIECES = (
    b"{{ question }}",
    b"{% for i in range(9) %}",
    b"{% endfor %}",
    b"{% if window %}x{% endif %}",
    b"{{ question|upper }}",
    b"=== user ===\n",
    b"=== system ===\n",
    b"{% set a = [1] %}",
    b"{{ a|join(',') }}",
    b"{# c #}",
    b"{% macro m() %}{% endmacro %}",
    b"{% raw %}",
    b"{{ ''.__class__ }}",
    b"{% include 'x' %}",
    b"{% extends 'x' %}",
    b"{% import 'x' as y %}",
    b"{{ 1 / 0 }}",
)
SOUND = (
    b"=== system ===\nBe brief.\n=== user ===\n"
    b"{% if window %}{{ window }}\n{% endif %}Q: {{ question|trim }}\nA:"
)


@pytest.mark.parametrize("name", ENDLESS)
def test_what_would_not_end_is_refused(name: str) -> None:
    for style in ("few-shot", "chat"):
        made = held(Prompts(style).question, "Who?", "A window.", ENDLESS[name])
        assert isinstance(made, LeadlineError) or len(str(made)) < 11_000_000


@examples(150)
@given(broken((SOUND, *PIECES)), st.sampled_from(("few-shot", "chat")))
def test_broken_templates_are_refused(content: bytes, style: str) -> None:
    held(Prompts(style).question, "Who?", "A window.", content.decode("utf-8", "replace"))  # type: ignore[arg-type]

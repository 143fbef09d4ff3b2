"""A template cannot ask for more than a prompt needs, and ordinary templates are not hindered."""

from __future__ import annotations

import pytest
from jinja2.exceptions import SecurityError, TemplateError

from leadline.techniques.template_sandbox import fill

GREEDY = [
    '{{ "a" * 10**9 }}',
    "{{ 10**9 * question }}",
    "{{ 10 ** (10 ** 10) }}",
    "{{ (10 ** 1000) ** 1000 }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ question.center(1000000000) }}",
    "{{ '{:>1000000000}'.format(question) }}",
    "{{ question | center(1000000000) }}",
    "{{ question | indent(1000000000) }}",
    "{{ '%1000000000d' | format(1) }}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{{ question }}{% endfor %}{% endfor %}",
]


@pytest.mark.parametrize("template", GREEDY)
def test_a_template_that_asks_for_a_gigabyte_is_refused(template: str) -> None:
    with pytest.raises(TemplateError) as caught:
        fill(template, {"question": "Who?", "window": ""})
    assert str(caught.value)


def test_a_template_reaches_no_object_of_the_program() -> None:
    with pytest.raises(SecurityError):
        fill("{{ question.__class__.__mro__ }}", {"question": "Who?"})


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{ '-' * 3 }} {{ question | upper }}", "--- WHO?"),
        ("{% for word in question.split() %}{{ loop.index * 2 }}{{ word }} {% endfor %}", "2Who? "),
        ("{{ 'Q: ' + question }} {{ 2 ** 10 }} {{ 7 % 4 }} {{ 1.5 * 2 }}", "Q: Who? 1024 3 3.0"),
        ("{{ window | replace('x', 'y') | trim | truncate(3, true, '', 0) }}", "yyy"),
    ],
)
def test_ordinary_templates_work(template: str, filled: str) -> None:
    assert fill(template, {"question": "Who?", "window": " xxxx "}) == filled

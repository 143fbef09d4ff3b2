"""Shared by the tests of reviews: a browser, and a template of a small job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jinja2 import ChoiceLoader, DictLoader

from leadline.report.page_frame import environment
from tests.report.conftest import browser

__all__ = ["browser", "notes_template"]

NOTES = """{% extends "frame.html.j2" %}
{% block main %}
<p class="field"><label for="answer">Answer</label>
<textarea id="answer" rows="2" data-field="answer" data-focus>{{ fields.answer }}</textarea></p>
<p class="problem" data-problem="answer" hidden></p>
<fieldset data-choices><legend>Kind</legend>
{% for kind in ("sand", "rock") %}
<label class="option"><input type="radio" name="kind" value="{{ kind }}" data-field="kind"
  {{ "checked" if fields.kind == kind }}> {{ kind }}</label>
{% endfor %}
</fieldset>
<label class="check"><input type="checkbox" data-field="sure" {{ "checked" if fields.sure }}> sure</label>
{% endblock %}
"""


@pytest.fixture(scope="session")
def notes_template() -> Iterator[None]:
    """Puts the page of `pages.Notes` beside the packaged templates."""
    made = environment("leadline.review")
    packaged = made.loader
    assert packaged is not None
    made.loader = ChoiceLoader([DictLoader({"notes.html.j2": NOTES}), packaged])
    yield
    made.loader = packaged

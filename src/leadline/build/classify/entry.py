"""A classifier's model and budget, as study.yaml names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from leadline.models.served.reference import is_served, read_reference
from leadline.study.config import AnyModel, ModelEntry
from leadline.study.served_entry import Budget, ServedEntry
from leadline.techniques.prompts_library import Style

if TYPE_CHECKING:
    from leadline.build.plan import ClassifierSection

ModelT = TypeVar("ModelT", bound=BaseModel)


def model_entry(section: ClassifierSection, reference: str) -> AnyModel:
    """The model as a study's `models` has it; `reference` is how the study's folder calls it.

    Raises ValueError, in one line, for what a study would refuse.
    """
    if not is_served(reference):
        if section.base_url is not None:
            raise ValueError("base_url is for models behind an API: those are named inspect:PROVIDER/MODEL")
        local = {"ref": reference, "dtype": section.dtype, "device": section.device}
        return _checked(ModelEntry, local)
    served = {
        "ref": reference,
        "base_url": section.base_url,
        "connections": section.connections,
        "options": section.options,
        "price": section.price,
    }
    entry = _checked(ServedEntry, served)
    if section.budget.get("money") is not None and section.price is None:
        raise ValueError("budget: money is counted by prices: give price: {input: ..., output: ...}")
    return entry


def study_budget(section: ClassifierSection) -> Budget:
    """The budget as a study has it. Raises ValueError, in one line, for what is none."""
    whole = {
        name: int(value) if value == int(value) and name != "money" else value
        for name, value in section.budget.items()
    }
    return _checked(Budget, whole, "budget")


def style_of(section: ClassifierSection) -> Style:
    """How the model is asked: as the plan says; else by chat behind an API, unless that takes raw text."""
    if section.style is not None:
        return section.style
    is_chat = is_served(section.model) and not read_reference(section.model).takes_raw_text
    return "chat" if is_chat else "few-shot"


def _checked(kind: type[ModelT], values: dict[str, Any], key: str = "") -> ModelT:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        parts = [key, *(str(part) for part in first["loc"] if not str(part).startswith("function-"))]
        place = ".".join(part for part in parts if part)
        if first["type"] == "extra_forbidden":
            raise ValueError(f"{place} is no key: known are {', '.join(kind.model_fields)}") from None
        what = str(first["msg"]).removeprefix("Value error, ")
        raise ValueError(f"{place}: {what}" if place else what) from None

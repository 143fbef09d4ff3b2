"""A model of this machine, with a technique, behind an HTTP server that speaks OpenAI's API.

Any harness can then measure it: see `docs/serving.md`. Needs the extra `serve` (starlette, uvicorn).
"""

from leadline.serving.app import make_app
from leadline.serving.batcher import Batcher
from leadline.serving.offer import Offer, offered
from leadline.serving.server import running

__all__ = ["Batcher", "Offer", "make_app", "offered", "running"]

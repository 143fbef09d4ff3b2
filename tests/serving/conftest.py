from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="local models need the 'local' extra")

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


@pytest.fixture(autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Matrices of 32 by 32 are not shared out: on a busy machine the threads would wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(before if "model" in request.keywords else 1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def own_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is fitted to the little model goes away with it; the real model stays where it is."""
    if "model" not in request.keywords:
        monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def little(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    """A random model that writes letters, of 512 tokens of context."""
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve
    from tests.study.small import write_model

    folder = write_model(tmp_path_factory.mktemp("models") / "little")
    return LocalModel(resolve(str(folder)), device="cpu")


@pytest.fixture(scope="module")
def server(little: LocalModel) -> Iterator[str]:
    """The little model behind a server; its URL."""
    from leadline.serving import Batcher, make_app, offered, running

    with running(make_app(Batcher(offered(little, name="little")))) as url:
        yield url

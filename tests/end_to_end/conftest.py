from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="local models need the 'local' extra")
pytest.importorskip("starlette", reason="the server needs the 'serve' extra")
pytest.importorskip("inspect_ai", reason="models behind an API need the 'served' extra")

from tests.end_to_end.house import House, serving


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The small model behind a server, for all tests of this folder."""
    with serving(tmp_path_factory.mktemp("house")) as found:
        yield found

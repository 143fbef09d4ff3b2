"""Models behind an API, through inspect-ai's providers: how they are asked, what it costs, what comes back.

`ServedModel` is a `Model`; `ServedSettings` says which one; a `Ledger` is told of every request before it is
sent.
"""

from leadline.models.served.failures import LASTING, PASSING
from leadline.models.served.ledger import BudgetExhausted, Ledger, MemoryLedger
from leadline.models.served.model import ServedModel
from leadline.models.served.settings import Price, ServedSettings
from leadline.models.served.standing import ProviderFailed

__all__ = [
    "LASTING",
    "PASSING",
    "BudgetExhausted",
    "Ledger",
    "MemoryLedger",
    "Price",
    "ProviderFailed",
    "ServedModel",
    "ServedSettings",
]

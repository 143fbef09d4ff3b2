"""Models behind an API, through inspect-ai's providers: what is asked of them, what it costs, what comes back.

`ServedModel` is a `Model`; `ServedSettings` says which one; a `Ledger` is told of every request before it is sent.
"""

from leadline.models.served.ledger import BudgetExhausted, Ledger, MemoryLedger
from leadline.models.served.model import ServedModel
from leadline.models.served.settings import Price, ServedSettings

__all__ = ["BudgetExhausted", "Ledger", "MemoryLedger", "Price", "ServedModel", "ServedSettings"]

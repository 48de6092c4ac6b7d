"""Stock: a plain read without effect, whose answer differs each time (5, 4, 3, ...)."""

from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Reply, Visit

SYSTEM = "stock"
FIRST_LEVEL = 5


def stock_read(outside: Outside, visit: Visit) -> Reply:
    """How many are left. Customers buy one between any two reads; reading itself changes nothing of ours."""
    sku = visit.parameters["sku"][:100]
    reads = outside.storage.rows(
        "INSERT INTO stock (sku, reads) VALUES (?, 1) ON CONFLICT (sku) DO UPDATE SET reads = reads + 1"
        " RETURNING reads",
        sku,
    )[0]["reads"]
    return Reply(200, {"sku": sku, "left": max(0, FIRST_LEVEL - reads + 1), "reads": reads})


def stock_shown(storage: Storage) -> list[Row]:
    """Every article that was asked for, with the number of reads."""
    return storage.rows("SELECT sku, reads FROM stock ORDER BY sku")


OPERATIONS = [Operation(SYSTEM, "read", "GET", "/stock/{sku}", stock_read, acts=False)]

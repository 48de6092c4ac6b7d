"""The outside systems, one module each; every one lists its operations."""

from chaos_app.world.systems import batch, config, files, jobs, mail, payments, stock, tickets

OPERATIONS = [
    *tickets.OPERATIONS,
    *config.OPERATIONS,
    *mail.OPERATIONS,
    *payments.OPERATIONS,
    *batch.OPERATIONS,
    *jobs.OPERATIONS,
    *stock.OPERATIONS,
    *files.OPERATIONS,
]
SYSTEMS = sorted({operation.system for operation in OPERATIONS})

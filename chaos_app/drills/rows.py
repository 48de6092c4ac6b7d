"""The boundary table as data: each row, where it lies, what a correct resume does, and which ends it allows. Pure.

The words are for people who read a report. ``core`` rows are run on every change.
"""

from chaos_app.drills.row import COMMIT, EFFECTS, EITHER, SITUATION, Ends, Row
from chaos_app.drills.rows_acting import ACTING
from chaos_app.drills.rows_leading import LEADING

__all__ = ["BY_ID", "COMMIT", "EFFECTS", "EITHER", "ROWS", "SITUATION", "Ends", "Row"]

ROWS = (*LEADING, *ACTING)
BY_ID = {row.id: row for row in ROWS}

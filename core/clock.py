"""The database's clock, the only one that deadlines and leases are compared with."""

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import DateTimeField, Func


class ClockTimestamp(Func):
    """``clock_timestamp()``: the wall clock at evaluation, unlike ``now()``, which is the transaction's start."""

    function = "clock_timestamp"
    arity = 0
    output_field = DateTimeField()


def database_now() -> datetime:
    """Read the database's wall clock (one round trip). Call it after the row lock is held, never before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
    moment: datetime = row[0]
    return moment


def database_uptime() -> timedelta:
    """Say how long the database server has been running (one round trip)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp() - pg_postmaster_start_time()")
        row = cursor.fetchone()
    uptime: timedelta = row[0]
    return uptime

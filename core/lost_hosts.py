"""How soon a host that has gone without a word is missed: TCP by itself waits for a quarter of an hour, or for ever.

What is sent and not acknowledged, and what is silent for a while, breaks the connection after about ten seconds; who
used it then meets the outage as any other, and tries again. A unix socket has no such host.
"""

import socket

IDLE, INTERVAL, COUNT = 5, 2, 3  # seconds of silence until the first probe, between two, and how many remain unanswered
UNACKNOWLEDGED = 10_000  # milliseconds
# As libpq takes it; where it cannot be had, or on a unix socket, it is passed over.
POSTGRES = {
    "keepalives_idle": IDLE,
    "keepalives_interval": INTERVAL,
    "keepalives_count": COUNT,
    "tcp_user_timeout": UNACKNOWLEDGED,
}
WANTED = {
    "TCP_KEEPIDLE": IDLE,
    "TCP_KEEPALIVE": IDLE,  # macOS's name for it
    "TCP_KEEPINTVL": INTERVAL,
    "TCP_KEEPCNT": COUNT,
    "TCP_USER_TIMEOUT": UNACKNOWLEDGED,
}


def redis_options(url: str) -> dict[str, object]:
    """Return the options of redis-py, which kombu passes on; none where the address is no TCP address of a Redis.

    Not ``socket_timeout``: a worker's blocking pop is to be silent for as long as nothing comes. For RabbitMQ py-amqp
    has bounds of its own.
    """
    if not url.startswith(("redis://", "rediss://")):
        return {}
    options = {getattr(socket, name): value for name, value in WANTED.items() if hasattr(socket, name)}
    return {"socket_keepalive": True, "socket_keepalive_options": options}

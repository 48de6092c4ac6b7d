"""The keeper: a small process beside each worker that renews its leases and proves its death.

It runs no user code, so that nothing a tool does can starve it, and it outlives a SIGKILL of its worker. Threads of a
worker never renew: a long regular expression would starve them (case-18).

``process`` looks at processes, ``protocol`` is what is said over its socket, ``table`` is what it watches (pure),
``server`` is its loop, ``renewer`` its database thread; ``client`` is the side of the slices, ``link`` and
``bootstep`` the side of the worker's main process.
"""

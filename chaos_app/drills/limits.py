"""The times that drills are bound to, in seconds. Pure."""

# A readable call is looked up 2 s (send_by) + TIMEOUT + LAG after its attempt, and no sooner.
TIMEOUT, LAG = 4.0, 1.0
PATIENT = 8.0  # of tools for whose outcome nobody waits
LOOKING = 9.0  # for a look-up or a read: the machine may be busy with many cases
SLICE = 14.0  # of a work session at most; longer than any case holds a process at a place
LEASE = 3  # shorter than the shortest deadline of a call, after which its keeper would end a stopped worker
TAKEOVER = 10.0  # from a landed fault to the next worker; more where the machine is busy (discovery measures it)

"""Recovery drills: if a worker dies exactly here, does the next one repeat, lose or spoil anything?

``names``, ``evidence``, ``cells``, ``judge`` and ``report`` are pure: evidence in, words out.
"""

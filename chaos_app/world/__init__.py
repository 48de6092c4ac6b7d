"""The outside world of demo and drills: a process of its own that plays the outside systems and counts.

It imports neither Django nor any other part of Handrail, so that its count cannot be coloured by what it counts.
"""

"""Stops a process exactly at a boundary, so that it can be killed there: barriers, not races.

``handler`` runs in the processes that a drill has spawned and asks at each crossing whether it may go on.
``controller`` runs in the process that spawned them, answers, and kills the one that reached an armed place.
"""

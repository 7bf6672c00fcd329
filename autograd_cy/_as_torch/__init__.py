"""Let programs that say ``import torch`` run over this package, without a change.

``switch.py`` turns it on and off, ``finder.py`` answers imports and questions for metadata,
``children.py`` turns it on in spawned processes, ``command.py`` runs a program from the command
line.
"""

"""The command ``sayso``: a file a command, assembled by ``parser.py`` and run by ``main.py``.

Arguments in, words or JSON and exit codes out. What a command does with a store or a chat stands
in the rooms below.
"""

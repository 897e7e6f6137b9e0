"""The command ``sayso``: a file for each command or small family of them.

Arguments in, words and exit codes out. What a command does with a store or a chat stands in the
rooms below.
"""

"""The servers behind a proxy: a process, an address, or Sayso itself.

Each hands on what it is given and brings the answer. None of them decides what may be handed on.
"""

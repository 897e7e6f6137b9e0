"""Calls that were made once, decided again: how often people would have been asked.

What decides is the code of gates and cards: policies, offers, the rules that Always stores, with
the clock of the trace. There is no store here and no chat.
"""

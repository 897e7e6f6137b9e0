"""German, as people write it at work: short, buttons as infinitives, people addressed as *Sie*.

Each file is one table, in the order of the English one. No table is loaded from here.
"""

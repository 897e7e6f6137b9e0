"""``sayso serve``: the web server, the platforms that are on, the desk, and whether they are well.

Wiring only: what a press or a request means is decided in the core.
"""

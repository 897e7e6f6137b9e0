"""What the core needs from a store, and the stores: in memory here, in Redis beside it.

``ports`` holds the promises, ``connect`` turns an address into a backend, and ``inbox`` hears for
one process how its requests end. Nothing in here knows what a question means; it is opened, settled
once and found again.
"""

"""Reviewed tables of files: those that control runs or agents, and those that hold secrets.

Each table is a TOML file beside the code. Names are compared without their case. Nothing here
opens a file; rules, command lines and dangers ask these tables.
"""

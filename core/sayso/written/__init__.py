"""Files in TOML that people write: read with their lines, and every problem told with its line.

What the keys mean is said by whoever reads them: the settings of the bots, or a policy. Nothing
here knows a setting.
"""

"""What an operator runs: settings, server, command line."""

"""Tests of sayso_slack; a package, because slack_sdk installs a legacy one of this name."""

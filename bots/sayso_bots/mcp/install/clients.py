"""The clients whose settings files are known: where they are, and where servers stand in them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sayso.errors import ConfigError

SCOPES = ("user", "project")


@dataclass(frozen=True, slots=True)
class McpClient:
    """A client; ``user`` and ``project`` are its files, from the home and from a project.

    ``key`` is under what the servers stand. Under ``projects``, each project has a part of the
    user's file, with more of them. ``home`` is a variable that names another folder in place of
    the one in which the user's file is. A file may have comments, or be TOML.
    """

    name: str
    title: str
    user: str
    project: str = ""
    key: str = "mcpServers"
    home: str = ""
    mac: str = ""
    projects: str = ""

    @property
    def is_toml(self) -> bool:
        """Whether its files are TOML, and not JSON with comments."""
        return self.user.endswith(".toml")

    def file(self, scope: str, env: Mapping[str, str], folder: Path) -> Path:
        """Where its servers stand.

        Raises:
            ConfigError: it has no such file.
        """
        if scope == "project":
            if not self.project:
                raise ConfigError(f"{self.title} has no settings of a project")
            return folder / self.project
        if self.home and (other := env.get(self.home, "")):
            return Path(other) / Path(self.user).name
        written = self.mac if self.mac and sys.platform == "darwin" else self.user
        return Path(env.get("HOME", "~")).expanduser() / written


_MAC = "Library/Application Support"
_ALL = (
    McpClient(
        "claude-code",
        "Claude Code",
        ".claude.json",
        ".mcp.json",
        home="CLAUDE_CONFIG_DIR",
        projects="projects",
    ),
    McpClient(
        "claude-desktop",
        "Claude Desktop",
        ".config/Claude/claude_desktop_config.json",
        mac=f"{_MAC}/Claude/claude_desktop_config.json",
    ),
    McpClient("cursor", "Cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
    McpClient(
        "vscode",
        "VS Code",
        ".config/Code/User/mcp.json",
        ".vscode/mcp.json",
        key="servers",
        mac=f"{_MAC}/Code/User/mcp.json",
    ),
    McpClient("windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json"),
    McpClient(
        "zed", "Zed", ".config/zed/settings.json", ".zed/settings.json", key="context_servers"
    ),
    McpClient(
        "codex", "Codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers", "CODEX_HOME"
    ),
    McpClient("gemini", "Gemini CLI", ".gemini/settings.json", ".gemini/settings.json"),
)
CLIENTS = {client.name: client for client in _ALL}

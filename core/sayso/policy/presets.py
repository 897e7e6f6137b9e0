"""Rules that come with Sayso: tools that only look, reviewed one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Looks:
    """A tool that only looks: whose it is, and what it does at most."""

    tool: str
    of: str
    does: str

    @property
    def rule(self) -> Rule:
        """The rule that allows it."""
        return Rule(self.tool)


_CLAUDE, _CODEX, _GEMINI = "Claude Code", "Codex", "Gemini CLI"
_FILES, _SERVED = "MCP server filesystem", "MCP server filesystem, in Claude Code"
_LANGCHAIN, _DEEP, _CLINE, _PI = "LangChain file tools", "Deep Agents", "Cline", "Pi, OpenClaw"

_READS, _LISTS, _FINDS, _SEARCHES = (
    "reads a file",
    "lists a folder",
    "finds files by their names",
    "searches in files",
)

# What may stand here: a tool that reads local files, names or state, whatever its arguments are.
# It runs nothing, writes nothing and fetches nothing. So none of these is here, although some
# cards would be spared: shells; git, whose options write and run; language servers, which build
# what they look at; tools that read from a server or the web; those that keep a list of tasks;
# sub-agents; and names that mean other things elsewhere (find, list, search).
_CODING = (
    Looks("Read", _CLAUDE, _READS),
    Looks("Glob", _CLAUDE, _FINDS),
    Looks("Grep", _CLAUDE, _SEARCHES),
    Looks("LS", _CLAUDE, _LISTS),
    Looks("NotebookRead", _CLAUDE, "reads a notebook"),
    Looks("BashOutput", _CLAUDE, "reads what a shell that runs already has written"),
    Looks("read_file", f"{_CODEX}, {_GEMINI}, {_LANGCHAIN}, {_DEEP}, {_CLINE}, {_FILES}", _READS),
    Looks("list_dir", _CODEX, _LISTS),
    Looks("grep_files", _CODEX, _SEARCHES),
    Looks("view_image", _CODEX, "reads a picture"),
    Looks("list_directory", f"{_GEMINI}, {_LANGCHAIN}, {_FILES}", _LISTS),
    Looks("glob", f"{_GEMINI}, {_DEEP}", _FINDS),
    Looks("grep_search", _GEMINI, _SEARCHES),
    Looks("search_file_content", _GEMINI, _SEARCHES),
    Looks("read_many_files", _GEMINI, "reads several files"),
    Looks("file_search", _LANGCHAIN, _FINDS),
    Looks("ls", f"{_DEEP}, {_PI}", _LISTS),
    Looks("grep", f"{_DEEP}, {_PI}", _SEARCHES),
    Looks("read", _PI, _READS),
    Looks("search_files", f"{_CLINE}, {_FILES}", "searches for or in files"),
    Looks("list_files", _CLINE, _LISTS),
    Looks("list_code_definition_names", _CLINE, "names the definitions in a folder"),
    *(
        Looks(name.format(tool), server, does)
        for name, server in (("{}", _FILES), ("mcp__filesystem__{}", _SERVED))
        for tool, does in (
            ("read_text_file", _READS),
            ("read_media_file", "reads a picture or a sound"),
            ("read_multiple_files", "reads several files"),
            ("list_directory_with_sizes", _LISTS),
            ("directory_tree", "lists a folder and those in it"),
            ("get_file_info", "reads the size and the times of a file"),
            ("list_allowed_directories", "lists the folders that it may look into"),
        )
    ),
    Looks("mcp__filesystem__read_file", _SERVED, _READS),
    Looks("mcp__filesystem__list_directory", _SERVED, _LISTS),
    Looks("mcp__filesystem__search_files", _SERVED, _FINDS),
)

PRESETS: Mapping[str, tuple[Looks, ...]] = {"coding": _CODING}
"""The presets by their names. What a preset does not name needs a person."""

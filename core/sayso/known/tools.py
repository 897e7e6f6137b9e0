"""The table of well-known tools, reviewed one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.calls import ToolCall
from sayso.rules.declarations import ToolAnnotations
from sayso.rules.roles import Roles

_CLAUDE, _CODEX, _GEMINI, _CLINE = "Claude Code", "Codex", "Gemini CLI", "Cline"
_FILES, _SERVED = "MCP server filesystem", "MCP server filesystem in Claude Code"
_LANGCHAIN, _DEEP, _PI, _CURSOR = "LangChain file tools", "Deep Agents", "Pi, OpenClaw", "Cursor"

_READS, _LISTS, _FINDS, _SEARCHES, _KEEPS = (
    "reads a file",
    "lists a folder",
    "finds files by their names",
    "searches in files",
    "keeps the agent's own list of tasks",
)
_LINES, _HANDS_ON, _ASKS = (
    "runs a line whose every part only looks",
    "starts a sub-agent, whose calls are asked about one by one",
    "puts a question to the person who works with the agent",
)


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool as others made it: whose it is, and what its arguments are for.

    ``looks`` says what it does at most, where that is to look or to change nothing but what the
    agent knows: with a ``command`` of lines whose every part looks, and where ``only`` names
    arguments, with these and no others, those in ``needs`` among them. ``edits`` says that it
    does nothing but write what one file holds, ``queries`` what it sends to a search engine.
    A name may be here more than once, each time with other arguments.
    """

    name: str
    of: str
    looks: str = ""
    only: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    talk: tuple[str, ...] = ()
    command: str = ""
    paths: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    url: str = ""
    edits: bool = False
    queries: tuple[str, ...] = ()

    @property
    def owners(self) -> frozenset[str]:
        """The agents and servers that have it."""
        return frozenset(self.of.split(", "))

    @property
    def roles(self) -> Roles:
        """What its arguments are for."""
        return Roles(self.talk, self.command, self.paths, self.writes, self.url)


# ``looks`` stands beside a tool that reads local files, names or state, whatever its arguments
# are, and beside one that changes nothing but what the agent knows: its list of tasks, its plans,
# what a person answers it, what a sub-agent tells it. It runs nothing, writes no file and fetches
# nothing. So none of these has it, although some
# cards would be spared: git, whose options write and run; language servers, which build
# what they look at; tools that read from a server or the web; those by which a person
# agrees to a plan; and names that mean other things elsewhere (find, list, search,
# update_plan, which may be somebody's subscription, and file_search, by which a provider of models
# searches in what was uploaded to it). Of the shells those have it that are called after one: the
# others hand a line to PowerShell or cmd.exe where that is the shell of the machine.
_LOOKING = (
    KnownTool("Read", _CLAUDE, _READS, paths=("file_path",), writes=("offset", "limit")),
    KnownTool("Glob", _CLAUDE, _FINDS),
    KnownTool("Grep", _CLAUDE, _SEARCHES),
    KnownTool("LS", _CLAUDE, _LISTS),
    KnownTool("NotebookRead", _CLAUDE, "reads a notebook"),
    KnownTool("BashOutput", _CLAUDE, "reads what a shell that runs already has written"),
    KnownTool(
        "read_file",
        f"{_CODEX}, {_GEMINI}, {_LANGCHAIN}, {_DEEP}, {_CLINE}, {_FILES}",
        _READS,
        paths=("file_path",),
        writes=("offset", "limit"),
    ),
    KnownTool("list_dir", _CODEX, _LISTS),
    KnownTool("grep_files", _CODEX, _SEARCHES),
    KnownTool("view_image", _CODEX, "reads a picture"),
    KnownTool("list_directory", f"{_GEMINI}, {_LANGCHAIN}, {_FILES}", _LISTS),
    KnownTool("glob", f"{_GEMINI}, {_DEEP}", _FINDS),
    KnownTool("grep_search", _GEMINI, _SEARCHES),
    KnownTool("search_file_content", _GEMINI, _SEARCHES),
    KnownTool("read_many_files", _GEMINI, "reads several files"),
    KnownTool("ls", f"{_DEEP}, {_PI}", _LISTS),
    KnownTool("grep", f"{_DEEP}, {_PI}", _SEARCHES),
    KnownTool("read", _PI, _READS, paths=("path",), writes=("offset", "limit")),
    KnownTool("search_files", f"{_CLINE}, {_FILES}", "searches for or in files"),
    KnownTool("list_files", _CLINE, _LISTS),
    KnownTool("list_code_definition_names", _CLINE, "names the definitions in a folder"),
    *(
        KnownTool(name.format(tool), server, does)
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
    KnownTool("mcp__filesystem__read_file", _SERVED, _READS),
    KnownTool("mcp__filesystem__list_directory", _SERVED, _LISTS),
    KnownTool("mcp__filesystem__search_files", _SERVED, _FINDS),
)

# How long a command may take is talk: it changes nothing of what runs. Not so where it runs (a
# working directory, a host), as whom, or outside of which sandbox: those are held as they are.
_SHELLS = (
    KnownTool(
        "Bash",
        f"{_CLAUDE}, {_CODEX}",
        _LINES,
        talk=("description", "timeout"),
        command="command",
    ),
    KnownTool("shell", _CODEX, talk=("justification", "timeout_ms"), command="command"),
    KnownTool("shell_command", _CODEX, talk=("justification", "timeout_ms"), command="command"),
    KnownTool(
        "exec_command",
        _CODEX,
        talk=("justification", "yield_time_ms", "max_output_tokens"),
        command="cmd",
    ),
    KnownTool("run_shell_command", _GEMINI, talk=("description",), command="command"),
    KnownTool("execute_command", _CLINE, talk=("requires_approval", "timeout"), command="command"),
    KnownTool("execute", _DEEP, talk=("timeout",), command="command"),
    KnownTool("bash", _PI, _LINES, talk=("description", "timeout"), command="command"),
    KnownTool("run_terminal_cmd", _CURSOR, talk=("explanation",), command="command"),
)

_WRITING = (
    KnownTool(
        "Edit",
        _CLAUDE,
        paths=("file_path",),
        writes=("old_string", "new_string", "replace_all"),
        edits=True,
    ),
    KnownTool("MultiEdit", _CLAUDE, paths=("file_path",), writes=("edits",), edits=True),
    KnownTool("Write", _CLAUDE, paths=("file_path",), writes=("content",), edits=True),
    KnownTool(
        "NotebookEdit",
        _CLAUDE,
        paths=("notebook_path",),
        writes=("cell_id", "cell_number", "new_source", "cell_type", "edit_mode"),
    ),
    KnownTool(
        "replace",
        _GEMINI,
        talk=("instruction",),
        paths=("file_path",),
        writes=("old_string", "new_string", "expected_replacements"),
        edits=True,
    ),
    KnownTool(
        "write_file",
        f"{_GEMINI}, {_LANGCHAIN}, {_DEEP}",
        paths=("file_path",),
        writes=("content", "text", "append"),
        edits=True,
    ),
    KnownTool("write_file", _FILES, paths=("path",), writes=("content",), edits=True),
    KnownTool(
        "mcp__filesystem__write_file", _SERVED, paths=("path",), writes=("content",), edits=True
    ),
    KnownTool(
        "edit_file",
        _DEEP,
        paths=("file_path",),
        writes=("old_string", "new_string", "replace_all"),
        edits=True,
    ),
    KnownTool("edit_file", _FILES, paths=("path",), writes=("edits", "dryRun"), edits=True),
    KnownTool(
        "mcp__filesystem__edit_file",
        _SERVED,
        paths=("path",),
        writes=("edits", "dryRun"),
        edits=True,
    ),
    KnownTool("create_directory", _FILES, paths=("path",)),
    KnownTool("mcp__filesystem__create_directory", _SERVED, paths=("path",)),
    KnownTool("copy_file", _LANGCHAIN, paths=("source_path", "destination_path")),
    KnownTool("write_to_file", _CLINE, paths=("path",), writes=("content",), edits=True),
    KnownTool("replace_in_file", _CLINE, paths=("path",), writes=("diff",), edits=True),
    KnownTool("write", _PI, paths=("path",), writes=("content",), edits=True),
    KnownTool("edit", _PI, paths=("path",), writes=("oldText", "newText", "edits"), edits=True),
)

_TALKING = (
    KnownTool("TodoWrite", _CLAUDE, _KEEPS, talk=("todos",)),
    KnownTool("TodoRead", _CLAUDE, _KEEPS),
    KnownTool("update_plan", _CODEX, talk=("explanation", "plan")),
    KnownTool("write_todos", f"{_GEMINI}, {_DEEP}", _KEEPS, talk=("todos",)),
    # What it runs is held: a sub-agent in a mode of its own, or in another folder, is asked about.
    *(
        KnownTool(
            name,
            _CLAUDE,
            _HANDS_ON,
            only=("prompt", "description", "subagent_type", "model", "resume", "run_in_background"),
            needs=("subagent_type",),
            talk=("description",),
        )
        for name in ("Task", "Agent")
    ),
    # Without `answers`: those are the person's to give.
    KnownTool("AskUserQuestion", _CLAUDE, _ASKS, only=("question", "questions", "metadata")),
    KnownTool("EnterPlanMode", _CLAUDE, "lets the agent plan before it changes anything"),
    # A tracker of tasks for people has more to say of each.
    KnownTool(
        "TaskCreate", _CLAUDE, _KEEPS, only=("subject", "description", "activeForm", "metadata")
    ),
    KnownTool(
        "TaskUpdate",
        _CLAUDE,
        _KEEPS,
        only=(
            *("taskId", "status", "subject", "description", "activeForm", "owner", "metadata"),
            *("addBlocks", "addBlockedBy"),
        ),
        needs=("taskId",),
    ),
    KnownTool("TaskGet", _CLAUDE, _KEEPS, only=("taskId",), needs=("taskId",)),
    KnownTool("TaskList", _CLAUDE, _KEEPS, only=("status",)),
    KnownTool(
        "TaskOutput",
        _CLAUDE,
        "reads what a sub-agent or a shell of its own has written",
        only=("task_id", "block", "timeout"),
        needs=("task_id",),
    ),
)

_FETCHING = (
    KnownTool("WebFetch", _CLAUDE, talk=("prompt",), url="url"),
    KnownTool("WebSearch", _CLAUDE, queries=("query",)),
)

LOOKING: Mapping[str, str] = {tool.name: tool.looks for tool in _LOOKING}
"""The most that tools that read local files do, by their names."""

FINDS, SEARCHES = _FINDS, _SEARCHES
READS_SEVERAL, FINDS_AND_SEARCHES = "reads several files", "searches for or in files"

TOOLS = (*_LOOKING, *_SHELLS, *_WRITING, *_TALKING, *_FETCHING)
"""All of them."""


def _by_name() -> Mapping[str, tuple[KnownTool, ...]]:
    found: dict[str, tuple[KnownTool, ...]] = {}
    for tool in TOOLS:
        found[tool.name] = (*found.get(tool.name, ()), tool)
    return found


_TOOLS = _by_name()
_NO_ROLES = Roles()


def known(call: ToolCall) -> KnownTool | None:
    """The well-known tool that is called; None where its arguments say that it is another.

    With those of two of them it is not clear which one it is.
    """
    found = [
        tool
        for tool in _TOOLS.get(call.name, ())
        if all(name in call.arguments for name in tool.roles.names)
    ]
    return found[0] if len(found) == 1 else None


def sends_queries(name: str, arguments: tuple[str, ...]) -> bool:
    """Whether these are all that a well-known tool of this name sends to a search engine."""
    return bool(arguments) and any(one.queries == arguments for one in _TOOLS.get(name, ()))


def alike(call: ToolCall) -> tuple[KnownTool, ...]:
    """The other tools that edit the path of the call as its own does, for whoever has that one.

    With a tool that several have, only those that all of them have.
    """
    tool = known(call)
    if tool is None or not tool.edits:
        return ()
    return tuple(
        one
        for one in _WRITING
        if one.edits
        and one.name != tool.name
        and one.paths == tool.paths
        and one.owners >= tool.owners
    )


def roles_in(call: ToolCall, declared: ToolAnnotations | None) -> Roles:
    """What the arguments of a call are for: as its tool declares them, else as is well known."""
    if declared is not None and declared.roles != _NO_ROLES:
        return declared.roles
    tool = known(call)
    return _NO_ROLES if tool is None else tool.roles

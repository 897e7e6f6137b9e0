"""Which subcommands of git only look, and with which options.

Nowhere: ``-c`` and ``--config-env`` (a setting can run any program), ``-C`` and ``--git-dir``
(another folder has other settings), ``--exec-path``; ``--output`` (writes), ``--ext-diff`` and
``--textconv`` (run programs), ``-O`` of grep (opens a pager), ``--show-signature``, and what
speaks to another host.
"""

from __future__ import annotations

import re

from sayso.shell.look import Look
from sayso.shell.options import Given


def _lists(given: Given) -> bool:
    """An operand is the name of a branch or tag to make, unless it is said to be a pattern."""
    listing = {"--list", "-l"}
    return not given.operands or any(name in listing for name, _ in given.options)


_TOKENS = re.compile(
    r"token|secret|pass|oauth|\.pat$|header|credential|key|insteadof|proxy", re.IGNORECASE
)


def _reads_setting(given: Given) -> bool:
    """Return whether it reads one setting, which is no token; any of several may be one."""
    reading = any(name in ("--get", "--get-all") for name, _ in given.options)
    return reading and not any(map(_TOKENS.search, given.operands))


_HASH = re.compile(r"[0-9a-f]{4,}", re.IGNORECASE)


def _names_what_it_shows(given: Given) -> bool:
    """Return whether it names the file that it shows; a bare hash may be that of any."""
    numbers = any(name in ("-t", "-s", "-e") for name, _ in given.options)
    return numbers or not any(map(_HASH.fullmatch, given.operands))


_DIFF = """
    -pusqwbaRzMCD -U: -S* -G* -# -- --stat? --numstat --shortstat --dirstat? --summary --patch
    --no-patch --raw --name-only --name-status --cached --staged --merge-base --unified=
    --patch-with-stat --compact-summary --minimal --patience --histogram --diff-algorithm=
    --color? --no-color --color-words? --word-diff? --word-diff-regex= --color-moved? --no-renames
    --find-renames? --find-copies? --diff-filter= --check --full-index --abbrev? --relative?
    --no-relative --text --ignore-space-at-eol --ignore-space-change --ignore-all-space
    --ignore-blank-lines --ignore-cr-at-eol --inter-hunk-context= --function-context -W
    --exit-code --quiet --no-ext-diff --no-textconv --no-prefix --submodule? --pickaxe-all
    --pickaxe-regex --binary --src-prefix= --dst-prefix=
"""
_LOG = f"""
    {_DIFF} -n: -L: -cgiEFPtr --oneline --graph --decorate? --no-decorate --all --branches? --tags?
    --remotes? --follow --max-count= --skip= --since= --after= --until= --before= --author*
    --committer* --grep* --invert-grep --all-match --regexp-ignore-case --extended-regexp
    --fixed-strings --merges --no-merges --first-parent --reverse --topo-order --date-order
    --author-date-order --date= --relative-date --format? --pretty? --abbrev-commit
    --no-abbrev-commit --cherry-pick --cherry-mark --cherry --left-right --left-only --right-only
    --boundary --simplify-by-decoration --ancestry-path? --full-history --walk-reflogs --parents
    --children --not --source --notes? --no-notes --cc -m --no-walk? --no-expand-tabs --no-mailmap
    --use-mailmap --exclude= --glob= --min-parents= --max-parents= --encoding= --clear-decorations
"""
_REFS = """
    -q --sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --count=
    --column? --no-column --color? --no-color --ignore-case --abbrev? --no-abbrev
"""


GIT_LOOKS: dict[tuple[str, ...], Look] = {
    ("git", "status"): Look(
        """
        -sbvz -u: -- --short --branch --porcelain? --long --verbose --show-stash --ignored?
        --untracked-files? --ahead-behind --no-ahead-behind --renames --no-renames --column?
        --find-renames? --ignore-submodules?
        """
    ),
    ("git", "log"): Look(_LOG),
    ("git", "show"): Look(_LOG),
    ("git", "whatchanged"): Look(_LOG),
    ("git", "diff"): Look(_DIFF),
    ("git", "stash", "list"): Look(_LOG),
    # No free text: versions before 2.22 take each word in it for an option.
    # Nor what was not tracked, which may be anything.
    ("git", "stash", "show"): Look(
        "-p --patch --stat --numstat --shortstat --summary --name-only --name-status"
    ),
    ("git", "branch"): Look(
        f"{_REFS} -arv -vv --list --all --remotes --verbose --show-current", None, _lists
    ),
    ("git", "tag"): Look(f"{_REFS} -l --list -n", check=_lists),
    ("git", "for-each-ref"): Look(f"{_REFS}"),
    ("git", "remote"): Look("-v --verbose", most=0),
    ("git", "remote", "get-url"): Look("--all --push", most=1),
    ("git", "rev-parse"): Look(
        """
        -q -- --show-toplevel --abbrev-ref? --short? --git-dir --absolute-git-dir --git-common-dir
        --is-inside-work-tree --is-bare-repository --verify --quiet --show-prefix --show-cdup
        --symbolic-full-name --symbolic --all --branches? --tags? --is-shallow-repository
        """
    ),
    ("git", "rev-list"): Look(f"{_LOG} --count --objects"),
    ("git", "ls-files"): Look(
        """
        -cdmosutzk -x: -- --cached --deleted --modified --others --stage --unmerged --killed
        --exclude-standard --exclude= --error-unmatch --full-name --ignored --directory --eol
        --abbrev? --deduplicate -i
        """
    ),
    ("git", "ls-tree"): Look(
        "-drtlz -- --name-only --name-status --long --full-name --full-tree --abbrev? --object-only"
    ),
    ("git", "blame"): Look(
        """
        -wcltfnseMCp -L: -- --porcelain --line-porcelain --date= --since= --reverse --root
        --show-email --show-name --show-number --abbrev= --first-parent --show-stats
        """
    ),
    ("git", "grep"): Look(
        """
        -iwvnlLcqhHEGFPoap -A: -B: -C: -e* -m: -# -- --ignore-case --word-regexp --invert-match
        --line-number --column --name-only --files-with-matches --files-without-match --count
        --extended-regexp --fixed-strings --perl-regexp --cached --untracked --no-index
        --heading --break --context= --after-context= --before-context= --color? --no-color
        --only-matching --show-function --function-context --and --or --not --all-match --quiet
        --max-depth= --max-count= --full-name --text --recurse-submodules
        """
    ),
    ("git", "cat-file"): Look("-ptse", most=2, check=_names_what_it_shows),
    ("git", "reflog"): Look("", most=0),
    ("git", "reflog", "show"): Look(_LOG),
    ("git", "describe"): Look(
        """
        --tags --always --dirty? --long --all --abbrev= --match= --exclude= --exact-match --contains
        --first-parent --candidates= --broken?
        """
    ),
    ("git", "shortlog"): Look(
        "-nsec -- --numbered --summary --email --since= --until= --no-merges --all"
    ),
    ("git", "config"): Look(
        """
        -z --get --get-all --global --local --system --worktree --show-origin
        --show-scope --name-only --null --default=
        """,
        most=2,
        check=_reads_setting,
        # After an operand it is the value to set.
        orderly=True,
    ),
    ("git", "merge-base"): Look("-a --all --is-ancestor --octopus --fork-point --independent"),
    ("git", "name-rev"): Look("--name-only --tags --all --always --refs="),
    ("git", "show-ref"): Look(
        "-dqs --head --heads --tags --branches --dereference --hash? --verify --abbrev?"
    ),
    ("git", "check-ignore"): Look("-qvzn -- --quiet --verbose --non-matching --no-index"),
    ("git", "count-objects"): Look("-vH --verbose --human-readable", most=0),
    ("git", "worktree", "list"): Look("-vz --porcelain --verbose", most=0),
    ("git", "version"): Look("--build-options", most=0),
}

"""Programs that may be known by their first words, and the options that change nothing in that.

Never here: programs that run what they are given (``sudo``, ``env``, ``xargs``, ``nohup``,
``time``, ``timeout``, ``watch``, ``ssh``, ``npx``, ``uvx``, shells, ``find -exec``), interpreters
with code, editors, and what nobody has looked at. Of those here, options are named one by one.
What is not: options that run programs, load code, choose other settings, write or read elsewhere,
or overwrite by force.
"""

from __future__ import annotations

import re

from sayso.shell.opening import SCRIPTS, Opening
from sayso.shell.options import Given


def _is_plain(given: Given) -> bool:
    """Whether no report is a file, which may be anywhere, and what is chosen is no code.

    Versions of pytest before 5.4 run ``-k`` and ``-m`` as Python, where names are harmless.
    """
    report = re.compile(r"term(?:-missing)?(?::skip-covered)?")
    chosen = re.compile(r"[\w(][\w() -]*")
    return all(map(report.fullmatch, given.values("--cov-report"))) and all(
        map(chosen.fullmatch, given.values("-k", "-m"))
    )


def _in_this_module(given: Given) -> bool:
    return all(one.startswith(".") for one in given.operands)


def _one_kind(given: Given) -> bool:
    """Whether one kind of things is shown, as words."""
    kinds = re.compile(r"wide|yaml|json|name")
    return bool(given.operands) and all(map(kinds.fullmatch, given.values("-o", "--output")))


_PYTEST = Opening(
    # Not: -p and -W (load code), -c, -o, --rootdir, --confcutdir (settings), --basetemp (deletes
    # it), --junitxml, --cov-report=html:, --pastebin, --pdb.
    """
    -vqxsl -k: -m: -r: -n: --verbose --quiet --tb= --lf --last-failed --ff --failed-first --nf
    --new-first --sw --stepwise --maxfail= --exitfirst --durations= --durations-min= --collect-only
    --co --markers --fixtures --no-header --no-summary --cov= --cov --cov-report= --no-cov
    --cov-branch --cov-fail-under= --timeout= --color= --numprocesses= --dist= --showlocals
    --deselect= --ignore= --strict-markers --runxfail --capture= --setup-show --version
    """,
    "below",
    check=_is_plain,
)

# Without these formatters write.
_CHECKS = ("--check", "--diff")

PYTHON_TOOLS: dict[tuple[str, ...], Opening] = {
    ("pytest",): _PYTEST,
    # Not: --config, --output-file, --extend-*, --stdin-filename, --unsafe-fixes.
    ("ruff", "check"): Opening(
        """
        -qv --fix --no-fix --diff --quiet --verbose --select= --ignore= --statistics --show-fixes
        --no-cache --exit-zero --output-format= --line-length= --target-version= --preview
        """,
        "below",
        modes=("--fix", "--no-fix", "--diff"),
    ),
    ("ruff", "format"): Opening(
        "-qv --check --diff --quiet --verbose --line-length=", "below", modes=_CHECKS
    ),
    # Not: --config-file, --python-executable, --install-types, --cache-dir, reports, -c, -m, -p.
    ("mypy",): Opening(
        """
        -v --strict --pretty --show-error-codes --ignore-missing-imports --no-incremental
        --show-error-context --no-error-summary --check-untyped-defs --disallow-untyped-defs
        --warn-unused-ignores --explicit-package-bases --namespace-packages --python-version=
        """,
        "below",
    ),
    # Not: -p, --pythonpath (runs it), --venvpath, --createstub.
    ("pyright",): Opening("--stats --verbose --outputjson --warnings --level= --version", "below"),
    ("ty", "check"): Opening("-qv --output-format= --error-on-warning", "below"),
    ("black",): Opening(
        "-qv -l: --check --diff --quiet --verbose --line-length=", "below", modes=_CHECKS
    ),
    ("isort",): Opening(
        "-qvc --check-only --check --diff --quiet --profile=",
        "below",
        modes=("-c", "--check-only", *_CHECKS),
    ),
    ("flake8",): Opening(
        "-qv --max-line-length= --select= --ignore= --count --statistics", "below"
    ),
    ("coverage", "report"): Opening("-mi --show-missing --skip-covered --fail-under="),
}

NODE_TOOLS: dict[tuple[str, ...], Opening] = {
    # Not: --outDir and its like, --build, --watch; @file is no path here.
    ("tsc",): Opening(
        "--noEmit --pretty --skipLibCheck --strict --listFiles --version",
        modes=("--noEmit", "--version"),
    ),
    # Not: -c, --rulesdir, --plugin, --parser, --format (a path of code), -o.
    ("eslint",): Opening(
        "--fix --quiet --ext= --max-warnings= --no-cache --color", "below", modes=("--fix",)
    ),
    # Not: --plugin, --config.
    ("prettier",): Opening(
        "-cwl --check --write --list-different", "below", modes=("-w", "--write")
    ),
    # Not: --config, --globalSetup, --reporters, --outputFile, --environment.
    # Nothing at the letter: it would be letters more.
    ("vitest", "run"): Opening("-t+ --coverage --silent --bail= --testNamePattern=", "below"),
    ("jest",): Opening(
        "-i -t+ --coverage --silent --verbose --bail --runInBand --ci --testNamePattern=", "below"
    ),
}

# Without these they may change the versions that are locked.
_LOCKED = ("--frozen-lockfile", "--immutable", "--frozen", "--locked")

_SCRIPT = Opening("-s --silent --if-present --*", "none")
_NAMED_SCRIPT = Opening("-s --silent --if-present --*", "held", SCRIPTS)
# Of these the script gets every option that follows its name.
_OTHER_SCRIPT = Opening("--*")
_OTHER_NAMED_SCRIPT = Opening("--*", "held", SCRIPTS)
# Not: --script-shell, --prefix, -C, --cwd, -w, --filter, --preload, --config. What a package is
# called, and what follows a script's name, is held.
_PACKAGES: dict[tuple[str, ...], Opening] = {
    ("npm", "test"): _SCRIPT,
    ("npm", "run"): _NAMED_SCRIPT,
    ("npm", "ci"): Opening("-s --silent --no-audit --no-fund --prefer-offline"),
    ("npm", "install"): Opening("-s --silent --no-audit --no-fund --prefer-offline"),
    ("pnpm", "test"): _OTHER_SCRIPT,
    ("pnpm", "run"): _OTHER_NAMED_SCRIPT,
    ("pnpm", "install"): Opening("--frozen-lockfile --silent", modes=_LOCKED),
    ("yarn", "test"): _OTHER_SCRIPT,
    ("yarn", "run"): _OTHER_NAMED_SCRIPT,
    ("yarn", "install"): Opening("--frozen-lockfile --immutable --silent", modes=_LOCKED),
    ("bun", "run"): Opening("--silent --*", "held", re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_:-]*")),
    ("bun", "test"): Opening("-t+ --coverage --bail --timeout=", "below"),
    ("bun", "install"): Opening("--frozen-lockfile --silent", modes=_LOCKED),
    # What is installed beside the rest is held.
    ("uv", "sync"): Opening(
        "-q --all-extras --dev --no-dev --frozen --locked --extra= --group=",
        modes=_LOCKED,
        pinned=("--all-extras", "--extra", "--group"),
    ),
    ("uv", "lock"): Opening("-q --check", modes=_CHECKS),
    # Not: --force (writes over the programs of others).
    ("uv", "tool", "install"): Opening("-q --reinstall", "held", re.compile(r"\.|[a-zA-Z0-9_-]+")),
    ("uv", "tool", "uninstall"): Opening("-q", "held"),
}

_BRANCHES = re.compile(
    r"(?!(?:.*/)?@|(?:.*/|\w*_)?head(?:/|$))[a-zA-Z0-9_][a-zA-Z0-9_./-]*", re.IGNORECASE
)


def _one_name(given: Given) -> bool:
    """Return whether a branch begins at the current commit: a second name is another place."""
    return len(given.operands) <= 1


# All of a folder, or a place that git understands in words of its own.
_WHOLE = re.compile(r":.*|(?:.*/)?(?:\.{1,2}|\*+)?", re.DOTALL)

# Not: --template and -F (read any file), --no-verify, --amend, -c and -C, --author, --date.
_GIT: dict[tuple[str, ...], Opening] = {
    ("git", "add"): Opening(
        "-AuvNn -- --all --update --verbose --intent-to-add --dry-run",
        "any",
        modes=("-n", "--dry-run"),
        pinned=("-A", "--all", "-u", "--update"),
        whole=_WHOLE,
    ),
    ("git", "commit"): Opening(
        "-aqvs -m* --message* --all --quiet --verbose --signoff --allow-empty",
        "any",
        needs=("-m", "--message"),
        whole=_WHOLE,
    ),
    # Not: --force and its like, --delete, --mirror, --receive-pack; of what is pushed, the very
    # names are held, and an address is none. Without a remote and a branch, or with a name that
    # moves (HEAD), it would be the branch that an earlier step went to.
    ("git", "push"): Opening(
        "-u --set-upstream -q -v --quiet --verbose", "held", _BRANCHES, least=2
    ),
    ("git", "pull"): Opening(
        "-q -v --ff-only --quiet --verbose",
        "held",
        _BRANCHES,
        needs=("--ff-only",),
        modes=("--ff-only",),
        least=2,
    ),
    # To prune deletes what is no more there.
    ("git", "fetch"): Opening(
        "-q -v --all --prune --tags --quiet --verbose -p",
        "held",
        modes=("-p", "--prune", "--all", "--tags"),
    ),
    # Not: -f and --discard-changes. To make a branch is not to go to another, and what stands in
    # another (a Makefile, package.json) is what the next test runs: its name is held.
    ("git", "switch"): Opening("-q --quiet", "held", _BRANCHES, least=1),
    ("git", "switch", "-c"): Opening("-q --quiet", "any", check=_one_name),
    ("git", "checkout", "-b"): Opening("-q", "any", check=_one_name),
    ("git", "restore", "--staged"): Opening("-q -- --quiet", "any"),
}

_CARGO = """
    -qvr -j: -p: --release --all --workspace --all-targets --all-features --no-default-features
    --features= --lib --bins --bin= --tests --test= --examples --example= --doc --package= --quiet
    --verbose --locked --offline --frozen --no-run --no-fail-fast --message-format= --*
"""
# Code of others that is built, and run to build it, is held.
_FEATURES = ("--all-features", "--features")
_GO = "-v -race -short -run= -count= -timeout= -cover -bench= -benchmem -failfast -parallel= -tags="

# Not: --config, --manifest-path, --target-dir, -Z, +toolchain; -exec, -toolexec, -vettool, -o.
_COMPILERS: dict[tuple[str, ...], Opening] = {
    ("cargo", "build"): Opening(_CARGO, pinned=_FEATURES),
    ("cargo", "check"): Opening(_CARGO, pinned=_FEATURES),
    ("cargo", "clippy"): Opening(_CARGO, pinned=_FEATURES),
    ("cargo", "test"): Opening(_CARGO, "below", pinned=_FEATURES),
    ("cargo", "doc"): Opening(f"{_CARGO} --no-deps", pinned=_FEATURES),
    ("cargo", "fmt"): Opening("-qv --all --check --quiet --verbose --*", modes=("--check",)),
    ("go", "build"): Opening(_GO, "below", check=_in_this_module, one_dash=True),
    ("go", "test"): Opening(_GO, "below", check=_in_this_module, one_dash=True),
    ("go", "vet"): Opening(_GO, "below", check=_in_this_module, one_dash=True),
    ("go", "fmt"): Opening("", "below", check=_in_this_module, one_dash=True),
    ("go", "mod", "tidy"): Opening(),
    # Not: -f, -C, -I, -E, --eval, and no variables: SHELL= runs another program. The number of -j
    # stands at it, or is held as a target.
    ("make",): Opening("-ksBj0123456789 --jobs? --keep-going --silent", "held"),
    ("just",): Opening("", "held"),
    ("terraform", "validate"): Opening("-no-color -json", one_dash=True),
    ("terraform", "fmt"): Opening(
        "-check -diff -recursive -no-color", modes=("-check", "-diff"), one_dash=True
    ),
}

_NAMESPACES = ("-n", "--namespace", "-A", "--all-namespaces")
_CONTAINERS = "-n: --namespace= --all-namespaces -A -l: --selector= --show-labels --sort-by="

# Not: -H, --context and -f of docker; --kubeconfig, --context, --server, --as, --raw, -f of
# kubectl. The kind of what is shown is held: `get pods` is not `get secrets`. So is where it is,
# and whether all of it is shown: what pods are given as variables stands in their YAML.
_SERVICES: dict[tuple[str, ...], Opening] = {
    ("docker", "ps"): Opening(
        "-aqsl -n: -f: --all --quiet --filter= --format= --no-trunc --latest"
    ),
    ("docker", "images"): Opening("-aq --all --quiet --filter= --format= --no-trunc"),
    ("docker", "logs"): Opening("-t -n: --tail= --since= --until= --timestamps", "held"),
    ("docker", "compose", "ps"): Opening("-aq --all --quiet --services --format="),
    ("docker", "compose", "logs"): Opening("-t -n: --tail= --since= --no-color", "held"),
    ("kubectl", "get"): Opening(
        f"{_CONTAINERS} -o: --output=",
        "held",
        pinned=(*_NAMESPACES, "-o", "--output"),
        check=_one_kind,
    ),
    ("kubectl", "describe"): Opening(_CONTAINERS, "held", pinned=_NAMESPACES, check=_one_kind),
    ("kubectl", "logs"): Opening(
        "-n: --namespace= -c: --tail= --since= -p --previous", "held", pinned=_NAMESPACES
    ),
    ("mkdir",): Opening("-pv --parents --verbose", "below"),
}

OPENINGS = {**_PACKAGES, **_GIT, **_COMPILERS, **_SERVICES, **PYTHON_TOOLS, **NODE_TOOLS}

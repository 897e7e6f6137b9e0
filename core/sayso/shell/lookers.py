"""Programs that only look with some of their options, and which those are.

Beside each stands what is left out, and why.
"""

from __future__ import annotations

import re

from sayso.shell.look import Look
from sayso.shell.options import Given
from sayso.shell.scripts import awk_prints, sed_prints


def _shows_date(given: Given) -> bool:
    return all(one.startswith("+") for one in given.operands)  # any other sets the clock


def _compares(given: Given) -> bool:
    return all(one not in ("(", ")") for one in given.operands)


# Of the letters that stand without a dash `e` shows the variables of what runs, and so does -E.
# With a dash it is all that runs, unless another option is wrong: `ps -auxe` is read as `ps auxe`
# where nobody is called x, and `ps -ex` as `ps ex`.
_PS_LETTERS = re.compile(r"[aAfjlmrTuvwxX]+o?")
_PS_AS_LETTERS = re.compile(r"x[A-Za-z]*[eE][A-Za-z]*")
_PS_WITH_ALL = frozenset(
    re.findall(
        r"\S+", "-e -A -f -F -L -l -j -H -w -o --format --sort --forest --headers --no-headers"
    )
)
_PS_COLUMNS = re.compile(r"(?!.*environ)[a-zA-Z0-9%_,=:]+", re.DOTALL | re.IGNORECASE)


def _shows_no_variables(given: Given) -> bool:
    first, *others = given.operands or ("",)
    named = first.endswith("o") and len(others) == 1
    columns = [*given.values("-o", "--format"), *(others if named else ())]
    numbers = [*(() if _PS_LETTERS.fullmatch(first) else (first,)), *(() if named else others)]
    plain = not first or all(one.replace(",", "").isdigit() for one in numbers)
    shows = any(map(_PS_AS_LETTERS.fullmatch, given.values("-u")))
    names = {name for name, _ in given.options}
    shows = shows or ("-e" in names and not names <= _PS_WITH_ALL)
    return plain and not shows and all(map(_PS_COLUMNS.fullmatch, columns))


# `env` and `$ENV` are the variables of the process; what repeats may never end, nor what is large.
_JQ_REFUSED = re.compile(
    r"(?<![.\w$])(?:repeat|range|until|while|recurse|combinations|def|import|include)\b"
    r"|(?<![.\w$])env\b(?!\s*:)|(?<![.\w])ENV\b"
    r"|\"\s*\*\s*[$(0-9]|\*\s*(?:\(|[0-9]{5})|[0-9]{6}\s*\]|[0-9]\.?[eE]\+?[0-9]"
)


def _works_on_its_input(given: Given) -> bool:
    return not any(map(_JQ_REFUSED.search, given.operands))


_SHORT_TIME = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?s?")
_SMALL_NUMBER = re.compile(r"-?[0-9]{1,6}")


def _soon_over(given: Given) -> bool:
    return bool(given.operands) and all(map(_SHORT_TIME.fullmatch, given.operands))


def _counts(given: Given) -> bool:
    """Return whether the numbers are not too many, and the step between them is whole."""
    numbers = [*given.operands, *(name for name, value in given.options if name[1:].isdigit())]
    steps = numbers[1:] if len(numbers) > 2 else []
    return all(map(_SMALL_NUMBER.fullmatch, numbers)) and all(int(one) for one in steps)


_GREP = Look(
    """
    -EFGPHILRUVabchilnoqrsvwxyZT -A: -B: -C: -e: -f: -m: -d: -D: -# -- --color? --colour?
    --include= --exclude= --exclude-dir= --line-number --recursive --ignore-case --count
    --files-with-matches --files-without-match --only-matching --max-count= --no-filename
    --with-filename --word-regexp --line-regexp --extended-regexp --fixed-strings --perl-regexp
    --basic-regexp --invert-match --quiet --silent --context= --after-context= --before-context=
    --null --text --binary-files= --no-messages --regexp= --dereference-recursive
    """
)

LOOKERS: dict[tuple[str, ...], Look] = {
    # --pager and --filter of a program that stands in for it run others.
    ("grep",): _GREP,
    ("egrep",): _GREP,
    ("fgrep",): _GREP,
    # --pre and --hostname-bin run programs, and so does -z to unpack.
    ("rg",): Look("""
            -aFHILNPSUVchilnopqsuvwx0 -A: -B: -C: -e: -f: -g: -m: -t: -T: -j: -M: -r: --
            --files --glob= --iglob= --type= --type-not= --type-list --hidden --no-ignore
            --no-ignore-vcs --line-number --no-line-number --ignore-case --smart-case
            --case-sensitive --fixed-strings --word-regexp --line-regexp --count --count-matches
            --files-with-matches --files-without-match --json --max-count= --max-depth= --context=
            --after-context= --before-context= --multiline --multiline-dotall --only-matching
            --no-heading --heading --color= --sort= --sortr= --stats --no-messages
            --with-filename --no-filename --vimgrep --column --trim --max-columns= --pcre2 --text
            --follow --quiet --invert-match --replace= --regexp= --passthru --null --no-config
            --max-filesize= --threads= --unrestricted --version
            """),
    # -x and -X run programs, -l runs ls.
    ("fd",): Look("""
            -HIausLFgp0 -e: -t: -d: -E: -S: -- --extension= --type= --max-depth= --min-depth=
            --exclude= --hidden --no-ignore --no-ignore-vcs --absolute-path --follow --glob
            --fixed-strings --full-path --case-sensitive --ignore-case --size= --color= --print0
            --changed-within= --changed-before= --max-results=
            """),
    # -exec, -execdir, -ok, -okdir run, -delete deletes, -fls and -fprint and its like write.
    ("find",): Look(
        """
            -H -L -P -name= -iname= -path= -ipath= -wholename= -regex= -iregex= -regextype=
            -type= -xtype= -maxdepth= -mindepth= -size= -empty -mtime= -mmin= -atime= -amin= -ctime=
            -cmin= -newer= -newermt= -perm= -user= -group= -uid= -gid= -links= -inum= -samefile=
            -readable -writable -executable -not -a -and -o -or -true -false -print -print0 -ls
            -prune -quit -depth -follow -mount -xdev -printf= -daystart -noleaf
            """,
        one_dash=True,
    ),
    # -o writes, --compress-program runs, -T names a folder to write to.
    ("sort",): Look("""
            -bcCdfghiMmnRrsuVz -k: -t: -- --reverse --numeric-sort --unique --key= --stable
            --field-separator= --human-numeric-sort --version-sort --ignore-case --check?
            --general-numeric-sort --month-sort --dictionary-order --zero-terminated
            """),
    # A second file is written.
    ("uniq",): Look(
        """
            -cdDuiz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields=
            --skip-chars= --check-chars= --zero-terminated
            """,
        most=1,
        orderly=True,
    ),
    # -l and --paginate run pr.
    ("diff",): Look("""
            -abBcdeiNnpqrstuwyEZ -U: -C: -W: -x: -- --brief --unified? --context? --recursive
            --new-file --side-by-side --color? --ignore-all-space --ignore-space-change
            --ignore-blank-lines --ignore-case --text --exclude= --width= --minimal --normal
            --report-identical-files --suppress-common-lines --strip-trailing-cr
            """),
    # -C writes, -z and -Z unpack with other programs.
    ("file",): Look("-bhikLNrv0 -- --brief --mime --mime-type --mime-encoding --dereference"),
    # -o writes, and so does -R with -H. What stands at a letter is never its value.
    ("tree",): Look("""
            -adfghiplstuDFJNQACS -L+ -I+ -P+ --dirsfirst --filesfirst --gitignore --noreport --prune
            --du --matchdirs --ignore-case --filelimit= --charset= --sort=
            """),
    # Any other operand sets the clock, and so do -s and, in places, -d.
    ("date",): Look(
        """
            -u -R -I -Iseconds -Iminutes -Idate -Ihours --utc --universal --iso-8601?
            --rfc-3339= --rfc-email
            """,
        one_dash=True,
        most=1,
        check=_shows_date,
    ),
    # -v and the comparisons of numbers work out what stands in brackets, which may be a command.
    ("test",): Look("-a -d -e -f -h -L -n -r -s -w -x -z -nt -ot -ef", 3, _compares, one_dash=True),
    # Without the option it runs a command.
    ("command", "-v"): Look(""),
    ("command", "-V"): Look(""),
    ("type",): Look("-a -t -p -P", one_dash=True),
    ("which",): Look("-a", one_dash=True),
    # With an operand these set what they show.
    ("uname",): Look("-asrnvmpio --all", most=0),
    ("hostname",): Look("-fs --fqdn --short", most=0),
    ("uptime",): Look("-ps --pretty --since", most=0),
    ("free",): Look("-bghkmtw --human --total", most=0),
    # -E and `e` show variables.
    ("ps",): Look(
        """
            -AaeFfHjLlMTcdmwx -p: -u: -U: -o: -t: -g: -C: --forest --sort= --no-headers --headers
            --pid= --ppid= --user= --format= --cumulative --width=
            """,
        check=_shows_no_variables,
    ),
    # -f, -F, --follow and --retry never end.
    ("tail",): Look("-qvz -n: -c: -# -- --lines= --bytes= --quiet --silent --verbose"),
    # More than some minutes, and more numbers than anybody reads.
    ("sleep",): Look("", 1, _soon_over),
    ("seq",): Look("-w -s* -f: -# --equal-width --separator* --format=", 3, _counts),
    ("pgrep",): Look("-aflx -u: -P: --full --list-name --list-full --exact"),
    ("column",): Look("-tx -s: -c: --table --separator="),
    # On macOS -o writes.
    ("base64",): Look("-dD -w: --decode --wrap=", most=1, orderly=True),
    # -i and the command w write, the command e runs: only scripts that print.
    ("sed",): Look(
        "-nErs -e* --quiet --silent --regexp-extended --expression*", check=sed_prints, orderly=True
    ),
    # No function writes or runs. Programs that stand in for it write with -i. -f, --slurpfile and
    # --rawfile read files that no operand names.
    ("jq",): Look(
        """
            -acejnrsRSCM -- --arg= --argjson= --args --jsonargs --tab
            --indent= --stream --seq --ascii-output --compact-output --exit-status --join-output
            --null-input --raw-output --raw-output0 --slurp --raw-input --sort-keys --color-output
            --monochrome-output --unbuffered
            """,
        check=_works_on_its_input,
    ),
    # Scripts can write and run: only those that print fields.
    ("awk",): Look("-F*", check=awk_prints, orderly=True),
}


def _own_host(given: Given) -> bool:
    """Whether all that is named is on the host that gh is signed in to."""
    repositories = given.values("-R", "--repo")
    named = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
    plain = re.compile(r"[\w.#-]+(?:/[\w.-]+)?", re.ASCII)
    return all(map(named.fullmatch, repositories)) and all(map(plain.fullmatch, given.operands))


_GH_OPTIONS = "-R: --repo= --json= -q: --jq= -t: --template= -L: --limit="
_GH_FILTERS = "-s: --state= -l: --label= -A: --author= -a: --assignee= -S: --search= -B: --base="
_GH_PARTS = "--comments --log --log-failed --name-only --patch --required --job= -j: -v"

# They ask the host of the repository, and nothing else, for what they show. --web opens a browser,
# and `gh api` can do anything.
GH_LOOKS: dict[tuple[str, ...], Look] = {
    words: Look(f"{_GH_OPTIONS} {more}", check=_own_host)
    for words, more in {
        ("gh", "pr", "view"): _GH_PARTS,
        ("gh", "pr", "diff"): _GH_PARTS,
        ("gh", "pr", "checks"): _GH_PARTS,
        ("gh", "pr", "status"): "",
        ("gh", "pr", "list"): _GH_FILTERS,
        ("gh", "issue", "view"): _GH_PARTS,
        ("gh", "issue", "list"): _GH_FILTERS,
        ("gh", "issue", "status"): "",
        ("gh", "run", "view"): _GH_PARTS,
        ("gh", "run", "list"): "-b: --branch= -w: --workflow= -s: --status=",
        ("gh", "release", "list"): "",
        ("gh", "release", "view"): "",
        ("gh", "repo", "view"): "",
        ("gh", "workflow", "list"): "",
    }.items()
}

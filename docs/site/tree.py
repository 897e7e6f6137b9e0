"""The files of the site: the documents of the tree, at their own paths.

So one link works on a code host and on the site. A document may also link to a source file: the
site has a page for each of those.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<=\]\()[^)\s#:]+(?=[)#])")
_ROW = re.compile(r"^\|.*`[^`]*\\\|[^`]*`.*$", re.MULTILINE)  # a code host needs the escape in code
_LANGUAGES = {
    ".acl": "text",
    ".py": "python",
    ".service": "ini",
    ".toml": "toml",
    ".ts": "typescript",
    ".yaml": "yaml",
}
_ASSETS = {".css", ".png", ".svg"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The theme's files, and ours at the paths that they have in the tree."""
    theme = [file for file in files if file.src_dir != config.docs_dir]
    ours = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*")]
    documents = [path for path in ours if path.suffix == ".md"]
    assets = [path for path in ours if path.suffix in _ASSETS]
    sources = {source for document in documents for source in _sources(document).values()}
    return Files(
        [
            *theme,
            *(_file(path, config) for path in [*documents, *assets]),
            *(_source_page(path, config) for path in sorted(sources)),
        ]
    )


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001  the hook's signature
    """Lead links to source files to their pages; a bar in code needs no escape here."""
    document = ROOT / page.file.src_uri
    if not document.is_file():
        return markdown
    sources = _sources(document)
    linked = _LINK.sub(lambda link: link[0] + ".md" * (link[0] in sources), markdown)
    return _ROW.sub(lambda row: row[0].replace("\\|", "|"), linked)


def _sources(document: Path) -> dict[str, Path]:
    """The links of a document that lead to source files."""
    links = {
        link: (document.parent / link).resolve() for link in _LINK.findall(document.read_text())
    }
    return {
        link: path for link, path in links.items() if path.suffix in _LANGUAGES and path.is_file()
    }


def _file(path: Path, config: MkDocsConfig) -> File:
    return File.generated(config, _uri(path), abs_src_path=str(path))


def _source_page(path: Path, config: MkDocsConfig) -> File:
    text = path.read_text()
    page = f"---\nsearch:\n  exclude: true\n---\n# {path.name}\n\n`{_uri(path)}`\n\n"
    page += f"~~~~{_LANGUAGES[path.suffix]}\n{text}~~~~\n"
    return File.generated(
        config, f"{_uri(path)}.md", content=page, inclusion=InclusionLevel.NOT_IN_NAV
    )


def _uri(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()

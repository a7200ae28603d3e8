"""How much of real handbooks survives parsing: python -m tests.benchmarks.fidelity [--write].

What should survive is read from the source by a few plain expressions that share nothing with the
parsers: words, headings, rows of tables, list items. What should not: names, addresses and
attributes in markup and templates. Pages of sites are built with MkDocs from real Markdown, so that
what surrounds a page is known: all that its Markdown does not say.
"""

from __future__ import annotations

import html
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import lxml.html
import pypdf

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.elements import BLOCKS
from ingest.parsing.media import DOCX, HTML, MARKDOWN, PDF, PLAIN_TEXT, PPTX, XLSX
from ingest.records import BlockKind, ParsedPage, RawPage
from ingest.sources.folder import FolderSource

ROOT = Path(__file__).parents[2]
CORPORA = ROOT.parent / "shared" / "corpora"
REPORT = ROOT / "docs" / "fidelity.md"
START, END = "<!-- figures: start -->\n", "<!-- figures: end -->\n"
MAX_PAGES = 400
"""Of a larger handbook, every second or more is taken."""
SITE = "civicactions-guidebook"
THEMES = ("mkdocs", "readthedocs")

_NUMBER = re.compile(r"^([ \t>]*)\d+[.)](?=[ \t])", re.M)
_WORD = re.compile(r"[^\W_]+")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,}).*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)", re.S | re.M)
_MARKUP = re.compile(
    r"<!--.*?-->|\{\{.*?\}\}|\{%.*?%\}|\{:.*?\}|^(?:import|export)\s[^\n]*$|</?[A-Za-z][^<>]*>"
    r"|\]\([^()\s]*(?:\([^()]*\))?[^()\s]*(?:\s+\"[^\"]*\")?\)|^\[[^\]\n]+\]:\s[^\n]*$",
    re.S | re.M,
)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*#*$", re.M)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.M)
_RULE = re.compile(r"[\s|:-]*")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(\S.*)$", re.M)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_STRUCK = re.compile(r"~~.*?~~", re.S)
_WORDS_TO_RECOGNISE = 6
_MIN_MARKUP_CHARS = 4


def words(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return _WORD.findall(text.casefold())


@dataclass
class Reference:
    """What a page says, and what only its markup says."""

    words: Counter[str]
    headings: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    markup: set[str] = field(default_factory=set)


@dataclass
class Kept:
    """Counts of what survived, out of how much."""

    pages: int = 0
    skipped: int = 0
    found: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, found: int, total: int) -> None:
        """Count a page."""
        self.found[kind] += found
        self.total[kind] += total

    def share(self, kind: str) -> str:
        """Return a share in per cent and of how many, a dot without any."""
        if not self.total[kind]:
            return "·"
        return f"{100 * self.found[kind] / self.total[kind]:.1f} of {self.total[kind]:,}"


# --- what should survive -------------------------------------------------------------------------


def of_markdown(source: str) -> Reference:
    """Read Markdown by expressions alone."""
    source = html.unescape(_FRONT_MATTER.sub("", source.replace("\r\n", "\n")))
    prose = _FENCE.sub("\n", source)
    markup = {
        word
        for mark in _MARKUP.findall(prose)
        for word in words(mark if mark.startswith("](") else _QUOTED.sub(" ", mark))
        if len(word) >= _MIN_MARKUP_CHARS
    }
    plain = _STRUCK.sub(" ", _MARKUP.sub(" ", prose))
    whole = Counter(words(_STRUCK.sub(" ", _MARKUP.sub(" ", source))))
    return Reference(
        Counter(words(_NUMBER.sub(r"\1", plain))),
        [text for text in _HEADING.findall(plain) if words(text)],
        [row for row in _ROW.findall(plain) if not _RULE.fullmatch(row) and words(row)],
        [item for item in _ITEM.findall(plain) if words(item)],
        markup - set(whole),
    )


def of_html(source: bytes) -> Reference:
    """Read the visible words of an HTML body; what stands in attributes and scripts is markup."""
    body = lxml.html.document_fromstring(source.decode("utf-8", "replace")).find("body")
    markup = [value for element in body.iter() for value in element.attrib.values()]
    for element in list(body.iter("script", "style", "noscript", "template", lxml.etree.Comment)):
        markup.append(element.text or "")
        element.drop_tree()
    for element in body.iter(*BLOCKS, "br"):
        element.tail = _apart(element.tail)
        element.text = _apart(element.text)
    seen = Counter(words(body.text_content()))
    return Reference(
        seen,
        [h.text_content() for h in body.iter("h1", "h2", "h3", "h4", "h5", "h6") if words(_all(h))],
        [_all(row) for row in body.iter("tr") if words(_all(row)) and not row.findall(".//table")],
        [_all(item) for item in body.iter("li") if words(_all(item))],
        {w for value in markup for w in words(value) if len(w) >= _MIN_MARKUP_CHARS} - set(seen),
    )


def _apart(text: str | None) -> str:
    return f" {_CONTROL.sub(' ', text or '')}"


def _all(element: lxml.html.HtmlElement) -> str:
    return str(element.text_content())


def of_docx(content: bytes) -> Reference:
    """Read the runs of a Word document; its table of contents is none of its words."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        tree = lxml.etree.fromstring(archive.read("word/document.xml"))
    space = {"w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}
    for contents in tree.xpath("//w:sdt[.//w:docPartGallery]", namespaces=space):
        contents.getparent().remove(contents)
    texts = [
        "".join(p.xpath(".//w:t/text()", namespaces=space))
        for p in tree.xpath("//w:p[not(.//w:p)]", namespaces=space)
    ]
    rows = [
        " ".join("".join(p.itertext(f"{{{space['w']}}}t")) for p in row.iter(f"{{{space['w']}}}p"))
        for row in tree.xpath("//w:tr", namespaces=space)
    ]
    return Reference(Counter(words(" ".join(texts))), rows=[row for row in rows if words(row)])


def of_pdf(content: bytes) -> Reference:
    """Read the words of a PDF as pypdf gives them."""
    pages = pypdf.PdfReader(io.BytesIO(content)).pages
    return Reference(Counter(words(" ".join(page.extract_text() for page in pages))))


def of_xlsx(content: bytes) -> Reference:
    """Read the shared texts of a spreadsheet."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        tree = lxml.etree.fromstring(archive.read("xl/sharedStrings.xml"))
    return Reference(Counter(words(" ".join(tree.itertext()))))


def reference(raw: RawPage) -> Reference | None:
    """Return what a page says, None for a format that is not measured."""
    text = raw.content.decode("utf-8", "replace")
    match raw.media_type:
        case t if t in {MARKDOWN, PLAIN_TEXT}:
            return of_markdown(text)
        case t if t == HTML and not raw.path.endswith(".njk") and "{%" not in text:
            return of_html(raw.content)
        case t if t == DOCX:
            return of_docx(raw.content)
        case t if t == PDF:
            return of_pdf(raw.content)
        case t if t == XLSX:
            return of_xlsx(raw.content)
    return None


# --- what survived -------------------------------------------------------------------------------


def compare(expected: Reference, parsed: ParsedPage, kept: Kept) -> None:
    """Count what of a page is in its text, headings among the headings and so on."""
    text = Counter(words(f"{parsed.title}\n{parsed.text}"))
    kept.add("words", (expected.words & text).total(), expected.words.total())
    kept.add("markup", len(expected.markup - set(text)), len(expected.markup))
    for kind, blocks, wanted in (
        ("headings", {BlockKind.HEADING}, expected.headings),
        ("rows", {BlockKind.TABLE_ROW}, expected.rows),
        ("items", {BlockKind.LIST_ITEM}, expected.items),
    ):
        written = [_key(parsed.text[b.start : b.end]) for b in parsed.blocks if b.kind in blocks]
        if kind == "headings":
            written.append(_key(parsed.title))
        kept.add(kind, sum(_is_among(_key(one), written) for one in wanted), len(wanted))


def _key(text: str) -> list[str]:
    return words(text)[: _WORDS_TO_RECOGNISE + 2]


def _is_among(wanted: list[str], written: Sequence[list[str]]) -> bool:
    """Tell whether a block begins with these words, but for one or two that markup changes."""
    first = set(wanted[:_WORDS_TO_RECOGNISE])
    return any(len(first & set(one)) >= max(len(first) - 1, 1) for one in written)


def pages(name: str) -> Iterator[RawPage]:
    """Yield the pages of a handbook, evenly chosen from a large one."""
    source = FolderSource(name, CORPORA / name)
    entries = source.listing().entries
    for entry in entries[:: len(entries) // MAX_PAGES + 1]:
        yield source.fetch(entry)


def measure(name: str) -> dict[str, Kept]:
    """Parse a handbook and compare, by kind of file."""
    kinds = {MARKDOWN: "Markdown", PLAIN_TEXT: "Markdown", HTML: "HTML", DOCX: "DOCX", PDF: "PDF"}
    kinds |= {XLSX: "XLSX", PPTX: "PPTX"}
    outcome: dict[str, Kept] = {}
    for raw in pages(name):
        expected = reference(raw)
        if expected is None:
            continue
        kept = outcome.setdefault(kinds[raw.media_type], Kept())
        try:
            parsed = parse(raw)
        except PageParseError:
            kept.skipped += 1
            continue
        kept.pages += 1
        compare(expected, parsed, kept)
    return outcome


# --- pages of sites ------------------------------------------------------------------------------


def built(theme: str, folder: Path) -> Path:
    """Build the site of a handbook with MkDocs and return where it is."""
    docs = next((CORPORA / SITE).rglob("README.md")).parent / "docs"
    source = docs if docs.is_dir() else CORPORA / SITE
    config = folder / "mkdocs.yml"
    config.write_text(
        f"site_name: Guidebook\nsite_url: https://handbook.test/\ndocs_dir: {source}\n"
        f"site_dir: {folder / 'site'}\ntheme: {theme}\n"
        "markdown_extensions: [admonition, attr_list, def_list, footnotes, md_in_html]\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(config)]
    subprocess.run(command, check=True, capture_output=True)
    return source


def measure_site(theme: str) -> Kept:
    """Compare what is read of the built pages with what is read of their Markdown."""
    kept = Kept()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = built(theme, folder)
        for file in sorted(source.rglob("*.md")):
            relative = file.relative_to(source)
            bare = relative.parent if file.stem in {"index", "README"} else relative.with_suffix("")
            page = folder / "site" / bare / "index.html"
            if page.is_file():
                _compare_with_source(file, page, kept)
    return kept


def _compare_with_source(file: Path, page: Path, kept: Kept) -> None:
    try:
        plain = parse(RawPage(path=file.name, content=file.read_bytes(), media_type=MARKDOWN))
        shown = parse(RawPage(path=page.name, content=page.read_bytes(), media_type=HTML))
    except PageParseError:
        kept.skipped += 1
        return
    kept.pages += 1
    own, read = Counter(words(plain.text)), Counter(words(shown.text))
    around = of_html(page.read_bytes()).words - own
    kept.add("words", (own & read).total(), own.total())
    kept.add("around", (around - (read - own)).total(), around.total())


# --- report --------------------------------------------------------------------------------------


def report() -> str:
    """Measure everything and return it as Markdown tables."""
    lines = [
        "### By handbook and format",
        "",
        "| handbook | format | pages (without text) | words kept | headings | table rows"
        " | list items | markup dropped |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in sorted(path.name for path in CORPORA.iterdir() if path.is_dir()):
        for kind, kept in sorted(measure(name).items()):
            shares = [kept.share(k) for k in ("words", "headings", "rows", "items", "markup")]
            cells = [name, kind, f"{kept.pages} ({kept.skipped})", *shares]
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "### Pages of a site, against their Markdown",
        "",
        "| site | theme | pages | words kept | words around the page dropped |",
        "| --- | --- | --- | --- | --- |",
    ]
    for theme in THEMES:
        kept = measure_site(theme)
        cells = [SITE, theme, str(kept.pages), kept.share("words"), kept.share("around")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the report, or put it between the marks of docs/fidelity.md."""
    tables = report()
    if "--write" not in sys.argv:
        sys.stdout.write(tables)
        return
    text = REPORT.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    REPORT.write_text(f"{before}{START}\n{tables}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()

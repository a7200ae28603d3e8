"""Takes the template language out of a page's source: Hugo, Liquid, Nunjucks, MDX, attribute lists.

What a template would fetch from elsewhere is lost; what the author wrote stays: the text between
paired tags, the titles of call-outs and tabs, the texts of buttons.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

COMPONENT: Final = "x-component"
"""Element that stands for a component of the site, transparent to its content."""

# --- what is found -------------------------------------------------------------------------------
# Repetitions are bounded, so that an opening without its end costs little.

_SHORTCODE: Final = r"\{\{[<%](?:(?![>%]\}\}).){0,1200}?[>%]\}\}"
_TAG: Final = r"\{%(?:(?!%\}).){0,1200}?%\}"
_ATTRIBUTE: Final = r"""(?:(?:[.\#]+[\w:-]+)+|[\w-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s\}"']+))"""

_TEMPLATE_TOKENS: Final = rf"""
      (?P<comment>\{{%-?\s*comment\b.{{0,20000}}?endcomment\s*-?%\}}
          | \{{\#\s.{{0,5000}}?\s-?\#\}} | \{{\{{[<%]?/\*.{{0,3000}}?\*/\s*[>%]?\}}\}})
    | (?P<line>^(?P<indent>[ \t>]*)(?P<alone>{_SHORTCODE}|{_TAG})[ \t]*$\n?)
    | (?P<inline>{_SHORTCODE}|{_TAG})
    | (?P<expression>\{{\{{(?:(?!\}}\}}).){{0,1000}}?\}}\}})
"""
_MARKDOWN_TOKENS: Final = rf"""
      (?P<code>^[ \t>]*(?:[-*+][ ]+|\d+[.)][ ]+)?(?P<ticks>`{{3,}}|~{{3,}})[^`\n]*\n
          (?:.*?^[ \t>]*(?P=ticks)[`~]*[ \t]*$|.*\Z)
          | (?<!`)(?P<quotes>`+)(?!`)[^\n]*?(?<!`)(?P=quotes)(?!`))
    | (?P<hidden><!--.*?(?:-->|\Z) | \{{/\*.{{0,5000}}?\*/\}}
          | ^import\s+(?:[\w*\s\{{\}},$]+\sfrom\s+)?["'][^"'\n]+["'];?[ \t]*$
          | ^export\s+(?:const|let|var|function|default|async|\{{|\*)[^\n]*(?:\n[^\n]*\S[^\n]*)*)
    | {_TEMPLATE_TOKENS}
    | (?P<attributes>\{{:?[ \t]*{_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*[ \t]*\}}
          | \{{::?[^\}}\n]{{0,300}}\}})
    | (?P<wiki>!?\[\[(?P<target>[^\[\]|\n]{{1,200}})(?:\|(?P<shown>[^\[\]\n]{{1,200}}))?\]\](?!\())
    | (?P<element></?(?P<name>[A-Za-z][\w.]*)(?P<rest>(?:[\s/][^<>]*)?)>)
"""
_FLAGS: Final = re.X | re.M | re.S
_IN_MARKDOWN: Final = re.compile(_MARKDOWN_TOKENS, _FLAGS)
_IN_HTML: Final = re.compile(_TEMPLATE_TOKENS, _FLAGS)

_ARGUMENT: Final = re.compile(
    r"""(?:(?P<key>[\w-]+)\s*[=:]\s*)?(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|`(?P<raw>[^`]*)`)"""
)
_TAG_NAME: Final = re.compile(r"\{\{?[<%][-\s]*/?\s*([\w.-]*)")
_HEADING_ID: Final = re.compile(r"#([\w:-]+)")
_LITERAL: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|`([^`$]*)`)""")
_ADDRESS: Final = re.compile(r"/|\.\w{2,5}$|^#[0-9a-f]{3,8}$|^[\w-]{11}$|^\W*\d*(?:px|%)?$")

_MDX: Final = re.compile(r"^import\s[^\n]*\sfrom\s+[\"']|\bclassName=", re.M)
_JSX_ATTRIBUTE: Final = re.compile(r"\s[\w-]+=\{(?:[^{}]|\{[^{}]*\})*\}")
_JSX_EXPRESSION: Final = re.compile(r"\{(?![:#.%{])([^{}\n]*)\}")

# --- what is kept --------------------------------------------------------------------------------

_LABELS: Final = frozenset(
    ("title", "header", "heading", "summary", "label", "name", "text", "caption", "alt", "question")
)
_COMPONENT_LABELS: Final = _LABELS - {"name", "alt"}
# Tags that steer the template. Alone on a line they leave nothing, not even a blank line.
_CONTROL_TEXT = """
    if elsif elseif elif else unless case when for while set assign capture macro block endif
    endunless endcase endfor endwhile endset endcapture endmacro endblock raw endraw verbatim
    endverbatim
    """
_CONTROL: Final = frozenset(_CONTROL_TEXT.split())
# Tags whose arguments are names or paths, never words for a reader.
_SILENT_TEXT = """
    call extends import from with filter include include_relative includes include-remote render
    partial page link ref relref youtube vimeo video gist embed iframe post_url layout cycle
    increment decrement tablerow highlight code math mermaid asset url js css script style toc icon
    svg
    """
_SILENT: Final = _CONTROL | frozenset(_SILENT_TEXT.split())
_HTML_TAGS_TEXT = """
    a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button
    canvas caption center circle cite code col colgroup data datalist dd defs del details dfn dialog
    dir div dl dt em embed fieldset figcaption figure font footer form frame frameset g h1 h2 h3 h4
    h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li line link main map
    mark menu meta meter nav noscript object ol optgroup option output p param path picture polygon
    polyline pre progress q rect rp rt ruby s samp script search section select slot small source
    span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead
    time title tr track tt u ul use var video wbr
    """
_HTML_TAGS: Final = frozenset(_HTML_TAGS_TEXT.split())


def strip_templates(source: str, *, mdx: bool = False) -> str:
    """Return Markdown without its template language. Code is left as it is.

    Args:
        source: Markdown without its front matter.
        mdx: Read `{…}` as JSX expressions; a page that imports components is MDX by itself.
    """
    mdx = mdx or _MDX.search(source) is not None
    replace = {
        "code": lambda match: match[0],
        "hidden": lambda match: "",
        "attributes": _replace_attributes,
        "wiki": _replace_wiki_link,
        "element": lambda match: _replace_element(match, mdx=mdx),
        **_REPLACE_TEMPLATE,
    }
    if not mdx:
        return _substitute(_IN_MARKDOWN, replace, source)
    source = _outside_code(_JSX_ATTRIBUTE, lambda match: "", source)
    return _outside_code(
        _JSX_EXPRESSION, _replace_expression, _substitute(_IN_MARKDOWN, replace, source)
    )


def strip_html_templates(source: str) -> str:
    """Return an HTML template (Liquid, Nunjucks) as plain HTML."""
    return _substitute(_IN_HTML, _REPLACE_TEMPLATE, source)


Replace = Callable[[re.Match[str]], str]


def _substitute(tokens: re.Pattern[str], replace: dict[str, Replace], source: str) -> str:
    # The outermost named group is the one closed last, hence `lastgroup`.
    return tokens.sub(lambda match: replace[match.lastgroup or ""](match), source)


def _outside_code(pattern: re.Pattern[str], replace: Replace, source: str) -> str:
    pieces: list[str] = []
    position = 0
    for match in _IN_MARKDOWN.finditer(source):
        if match.lastgroup == "code":
            pieces += (pattern.sub(replace, source[position : match.start()]), match[0])
            position = match.end()
    pieces.append(pattern.sub(replace, source[position:]))
    return "".join(pieces)


def _replace_line(match: re.Match[str]) -> str:
    """Replace a tag that has its line for itself: a title becomes a paragraph of its own."""
    tag = match["alone"]
    if _tag_name(tag) in _CONTROL:
        return ""
    words = " ".join(_words(tag)).strip("* ")
    indent = match["indent"]
    blank = f"{indent.rstrip()}\n"
    return f"{blank}{indent}**{words}**\n{blank}" if words else blank


def _replace_inline(match: re.Match[str]) -> str:
    return " ".join(_words(match[0]))


def _replace_expression(match: re.Match[str]) -> str:
    """Keep a literal string (`{{ "text" }}`, `{' '}`); a variable is unknown here."""
    literal = _LITERAL.match(match[0].strip("{}"))
    if literal is None:
        return ""
    text = next(group for group in literal.groups() if group is not None)
    return "" if _ADDRESS.search(text.strip()) and text.strip() else text


_REPLACE_TEMPLATE: Final[dict[str, Replace]] = {
    "comment": lambda match: "",
    "line": _replace_line,
    "inline": _replace_inline,
    "expression": _replace_expression,
}


def _replace_attributes(match: re.Match[str]) -> str:
    """Drop an attribute list (kramdown, MkDocs), but leave `{#id}` at the end of a heading."""
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    found = _HEADING_ID.search(match[0])
    if found is not None and match.string.startswith("#", line_start):
        return f"{{#{found[1]}}}"
    return ""


def _replace_wiki_link(match: re.Match[str]) -> str:
    if match[0].startswith("!") or match["target"].strip("_").upper() == "TOC":
        return ""
    return match["shown"] or match["target"]


def _replace_element(match: re.Match[str], *, mdx: bool) -> str:
    """Leave HTML alone, make components transparent, show `<placeholders>` as they are typed."""
    tag, name, rest = match[0], match["name"], match["rest"]
    if name.lower() in _HTML_TAGS and not (mdx and name[0].isupper()):
        # On one line: a `>` at the start of a line would open a quotation.
        return tag.replace("\n", " ")
    if tag.startswith("</"):
        return f"</{COMPONENT}>"
    closed = rest.rstrip().endswith("/")
    if not mdx and not closed and "=" not in rest and f"</{name}" not in match.string:
        return f"&lt;{tag[1:-1]}&gt;"
    words = [text for key, text in _arguments(rest) if key in _COMPONENT_LABELS and _is_prose(text)]
    return f"<{COMPONENT}>{' '.join(words)}" + (f"</{COMPONENT}>" if closed else "")


def _words(tag: str) -> list[str]:
    """Return the strings of a tag that a reader of the page would see."""
    if _tag_name(tag) in _SILENT:
        return [text for key, text in _arguments(tag) if key in {"title", "alt", "caption"}]
    return [
        text for key, text in _arguments(tag) if (key is None or key in _LABELS) and _is_prose(text)
    ]


def _tag_name(tag: str) -> str:
    match = _TAG_NAME.match(tag)
    return match[1].lower() if match else ""


def _arguments(tag: str) -> list[tuple[str | None, str]]:
    return [
        (match["key"], (match["double"] or match["single"] or match["raw"] or "").strip())
        for match in _ARGUMENT.finditer(tag)
    ]


def _is_prose(text: str) -> bool:
    return bool(text) and _ADDRESS.search(text) is None

"""Messages as a person would see them, drawn with text in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.text import Text

from bot.sandbox.text import unescape
from bot.sandbox.workspace import Json, Message, UnknownName, Workspace

_TOKEN = re.compile(r"<([^<>]+)>")
_MARKUP = re.compile(r"(?<!\w)([*_~`])(?=\S)(.+?)(?<=\S)\1(?!\w)")
_STYLES = {"*": "bold", "_": "italic", "~": "strike", "`": "cyan"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could steer the terminal instead of being shown in it."""
INDENT = "  "
QUOTE_BAR = "│ "


def draw(workspace: Workspace, message: Message) -> list[Text]:
    """Return the lines of a message: its blocks where it has any, else its text."""
    if message.blocks:
        lines = [line for block in message.blocks for line in _block(workspace, block)]
    else:
        lines = list(_mrkdwn(workspace, message.text).split("\n"))
    for line in lines:
        line.plain = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", line.plain)
    return list(_without_double_blanks(lines))


def author(workspace: Workspace, message: Message) -> Text:
    """Return the name above a message."""
    user = workspace.users[message.user_id]
    if message.bot is not None:
        return Text.assemble((user.real_name, "bold green"), (" APP", "dim"))
    return Text(user.real_name, style="bold")


def _block(workspace: Workspace, block: Json) -> list[Text]:
    match block["type"]:
        case "rich_text":
            return [line for part in block["elements"] for line in _rich_part(workspace, part)]
        case "section":
            texts = [block["text"]] if "text" in block else []
            return [
                line for t in (*texts, *block.get("fields", ())) for line in _text(workspace, t)
            ]
        case "header":
            return [Text(block["text"]["text"], style="bold underline")]
        case "context":
            shown = [e for e in block["elements"] if e["type"] != "image"]
            return [_dimmed(line) for e in shown for line in _text(workspace, e)]
        case "markdown":
            return list(Text(block["text"]).split("\n"))
        case "divider":
            return [Text("─" * 40, style="dim")]
        case "actions" | "context_actions":
            return [Text("  ".join(_buttons(block["elements"])), style="blue")]
        case "image":
            return [Text(f"[{block['alt_text']}]", style="dim")]
        case "table" | "data_table":
            return [Text(" │ ".join(_cells(row))) for row in block["rows"]]
        case kind:
            return [Text(f"[{kind}]", style="dim")]


def _rich_part(workspace: Workspace, part: Json) -> list[Text]:
    kind = part["type"]
    if kind == "rich_text_list":
        indent = INDENT * part.get("indent", 0)
        first = part.get("offset", 0) + 1
        lines = []
        for number, item in enumerate(part["elements"], start=first):
            mark = f"{number}. " if part.get("style") == "ordered" else "• "
            body = _inline(workspace, item["elements"]).split("\n")
            lines.append(Text.assemble(indent, mark, body[0]))
            lines += [Text.assemble(indent, " " * len(mark), more) for more in body[1:]]
        return lines
    lines = list(_inline(workspace, part["elements"]).split("\n"))
    if kind in ("rich_text_quote", "rich_text_preformatted"):
        return [Text.assemble((QUOTE_BAR, "dim"), line) for line in lines]
    return lines


def _inline(workspace: Workspace, elements: Iterable[Json]) -> Text:
    text = Text()
    for element in elements:
        match element["type"]:
            case "text":
                styles = [name for name, on in element.get("style", {}).items() if on]
                style = " ".join("cyan" if name == "code" else name for name in styles)
                text.append(element["text"], style)
            case "link":
                shown = element.get("text") or element["url"]
                text.append(shown, f"underline link {element['url']}")
            case "user":
                text.append(_mention(workspace, element["user_id"]), "bold blue")
            case "channel":
                text.append(f"#{workspace.channels[element['channel_id']].name}", "bold blue")
            case "broadcast":
                text.append(f"@{element['range']}", "bold yellow")
            case "emoji":
                text.append(f":{element['name']}:")
    return text


def _text(workspace: Workspace, node: Json) -> list[Text]:
    if node["type"] == "plain_text":
        return list(Text(node["text"]).split("\n"))
    return list(_mrkdwn(workspace, node["text"]).split("\n"))


def _mrkdwn(workspace: Workspace, source: str) -> Text:
    text = Text()
    position = 0
    for match in _TOKEN.finditer(source):
        text.append_text(_marked(source[position : match.start()]))
        text.append_text(_token(workspace, match[1]))
        position = match.end()
    return text.append_text(_marked(source[position:]))


def _marked(source: str) -> Text:
    """Return text without tokens, with `*bold*`, `_italic_`, `~strike~` and `` `code` ``."""
    text = Text()
    position = 0
    for match in _MARKUP.finditer(source):
        text.append(unescape(source[position : match.start()]))
        text.append(unescape(match[2]), _STYLES[match[1]])
        position = match.end()
    return text.append(unescape(source[position:]))


def _token(workspace: Workspace, token: str) -> Text:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return Text(_mention(workspace, target[1:]), "bold blue")
    if target.startswith("#"):
        return Text(f"#{label or target[1:]}", "bold blue")
    if target.startswith("!"):
        return Text(f"@{label or target[1:]}", "bold yellow")
    return Text(unescape(label or target), f"underline link {unescape(target)}")


def _mention(workspace: Workspace, user_id: str) -> str:
    try:
        return f"@{workspace.user(user_id).real_name}"
    except UnknownName:
        return f"@{user_id}"


def _buttons(elements: Iterable[Json]) -> Iterator[str]:
    for element in elements:
        if element["type"] == "feedback_buttons":
            for side in ("positive_button", "negative_button"):
                yield f"[{element[side]['text']['text']}]"
        elif "text" in element:
            yield f"[{element['text']['text']}]"
        else:
            yield f"[{element['type']}]"


def _cells(row: Iterable[Json]) -> Iterator[str]:
    for cell in row:
        yield str(cell.get("text", "")) if cell.get("type") == "raw_text" else "…"


def _dimmed(line: Text) -> Text:
    line.stylize("dim")
    return line


def _without_double_blanks(lines: Iterable[Text]) -> Iterator[Text]:
    blank = False
    for line in lines:
        if not (blank and not line.plain.strip()):
            yield line
        blank = not line.plain.strip()

"""What Slack accepts in Block Kit, as tables: types per surface, lengths, counts, required keys.

Sources: the block and composition object pages of Slack's documentation, the constants of
slack_sdk's models, and the comments in node-slack-sdk's block types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.sandbox.workspace import Json


class Surface(StrEnum):
    """Where blocks are shown."""

    MESSAGE = "message"
    MODAL = "modal"
    HOME = "home"


MAX_BLOCKS = {Surface.MESSAGE: 50, Surface.MODAL: 100, Surface.HOME: 100}
MAX_MARKDOWN = 12_000
"""Characters of all `markdown` blocks of one message together."""
MAX_TABLE = 10_000
"""Characters of one `table` block. Measured by third parties, not documented."""
MAX_DATA_TABLES = 20_000
"""Characters of all `data_table` cells of one message together."""

_EVERYWHERE = frozenset(Surface)
_MESSAGE = frozenset({Surface.MESSAGE})
_MODAL = frozenset({Surface.MODAL})
_NOT_IN_MODALS = frozenset({Surface.MESSAGE, Surface.HOME})


@dataclass(frozen=True, slots=True)
class Rule:
    """Limits of one type of block or element.

    Paths name keys with dots; `[]` stands for every item of a list: `options[].text.text`.

    Attributes:
        surfaces: Where a block of this type may stand.
        required: Paths that must be there.
        one_of: Paths of which one at least must be there.
        lengths: Most characters, by path.
        counts: Most items, by path.
        elements: Types allowed, by path; of blocks, elements or text objects.
        nonempty: Paths of lists or texts that must hold something.
    """

    surfaces: frozenset[Surface] = _EVERYWHERE
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    elements: Mapping[str, frozenset[str]] = field(default_factory=dict)
    nonempty: tuple[str, ...] = ()


_PLAIN = frozenset({"plain_text"})
_TEXT = frozenset({"plain_text", "mrkdwn"})
_SELECTS = frozenset(
    f"{kind}_select" for kind in ("static", "external", "users", "conversations", "channels")
)
_MULTI_SELECTS = frozenset(f"multi_{kind}" for kind in _SELECTS)
_PICKERS = frozenset({"datepicker", "timepicker", "datetimepicker"})
_CHOICES = frozenset({"checkboxes", "radio_buttons"})
_IN_ACTIONS = (
    _SELECTS | _MULTI_SELECTS | _PICKERS | _CHOICES | {"button", "overflow", "workflow_button"}
)
_IN_INPUTS = (
    _SELECTS
    | _MULTI_SELECTS
    | _PICKERS
    | _CHOICES
    | {
        "plain_text_input",
        "rich_text_input",
        "number_input",
        "email_text_input",
        "url_text_input",
        "file_input",
    }
)
_IN_RICH_TEXT = frozenset(
    {"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"}
)

BLOCKS: Mapping[str, Rule] = {
    "actions": Rule(
        required=("elements",),
        counts={"elements": 25},
        elements={"elements[]": _IN_ACTIONS},
        nonempty=("elements",),
    ),
    "alert": Rule(surfaces=_MODAL, required=("text",)),
    "card": Rule(
        lengths={"title.text": 150, "subtitle.text": 150, "body.text": 200},
        one_of=("title", "body", "hero_image"),
    ),
    "carousel": Rule(
        required=("elements",),
        counts={"elements": 10},
        elements={"elements[]": frozenset({"card"})},
        nonempty=("elements",),
    ),
    "container": Rule(
        surfaces=_NOT_IN_MODALS,
        required=("child_blocks",),
        lengths={"title.text": 150, "subtitle.text": 150},
        counts={"child_blocks": 10},
    ),
    "context": Rule(
        required=("elements",),
        counts={"elements": 10},
        elements={"elements[]": _TEXT | {"image"}},
        lengths={"elements[].text": 3000},
        nonempty=("elements",),
    ),
    "context_actions": Rule(
        surfaces=_MESSAGE,
        required=("elements",),
        counts={"elements": 5},
        elements={"elements[]": frozenset({"feedback_buttons", "icon_button"})},
        nonempty=("elements",),
    ),
    "data_table": Rule(
        surfaces=_NOT_IN_MODALS,
        required=("rows", "caption"),
        counts={"rows": 201, "rows[]": 20},
    ),
    "data_visualization": Rule(),
    "divider": Rule(),
    "file": Rule(surfaces=_MESSAGE, required=("external_id", "source")),
    "header": Rule(
        required=("text",),
        lengths={"text.text": 150},
        elements={"text": _PLAIN},
        nonempty=("text.text",),
    ),
    "image": Rule(
        required=("alt_text",),
        one_of=("image_url", "slack_file"),
        lengths={"alt_text": 2000, "image_url": 3000, "title.text": 2000},
        elements={"title": _PLAIN},
    ),
    "input": Rule(
        required=("label", "element"),
        lengths={"label.text": 2000, "hint.text": 2000},
        elements={"label": _PLAIN, "hint": _PLAIN, "element": _IN_INPUTS},
    ),
    "markdown": Rule(
        surfaces=_MESSAGE, required=("text",), lengths={"text": MAX_MARKDOWN}, nonempty=("text",)
    ),
    "plan": Rule(
        required=("title",),
        lengths={"tasks[].title": 256},
        elements={"tasks[]": frozenset({"task_card"})},
    ),
    "rich_text": Rule(required=("elements",), elements={"elements[]": _IN_RICH_TEXT}),
    "section": Rule(
        one_of=("text", "fields"),
        lengths={"text.text": 3000, "fields[].text": 2000},
        counts={"fields": 10},
        elements={
            "text": _TEXT,
            "fields[]": _TEXT,
            "accessory": _IN_ACTIONS | {"image"},
        },
        nonempty=("text.text", "fields", "fields[].text"),
    ),
    "table": Rule(
        surfaces=_NOT_IN_MODALS,
        required=("rows",),
        counts={"rows": 100, "rows[]": 20, "column_settings": 20},
        nonempty=("rows",),
    ),
    "task_card": Rule(
        surfaces=_MESSAGE, required=("task_id", "title"), lengths={"title": 256, "details": 256}
    ),
    "video": Rule(
        required=("alt_text", "title", "thumbnail_url", "video_url"),
        lengths={"title.text": 200, "author_name": 50},
    ),
}

_OPTION_LENGTHS = {"options[].text.text": 75, "options[].value": 150}
_SELECT = Rule(
    lengths=_OPTION_LENGTHS | {"action_id": 255, "placeholder.text": 150},
    counts={"options": 100, "option_groups": 100},
    elements={"options[].text": _TEXT},
)

ELEMENTS: Mapping[str, Rule] = {
    "button": Rule(
        required=("text",),
        lengths={
            "text.text": 75,
            "value": 2000,
            "url": 3000,
            "accessibility_label": 75,
            "action_id": 255,
        },
        elements={"text": _PLAIN},
        nonempty=("text.text",),
    ),
    "checkboxes": Rule(
        required=("options",), counts={"options": 10}, lengths=_OPTION_LENGTHS | {"action_id": 255}
    ),
    "radio_buttons": Rule(
        required=("options",), counts={"options": 10}, lengths=_OPTION_LENGTHS | {"action_id": 255}
    ),
    "overflow": Rule(
        required=("options",), counts={"options": 5}, lengths=_OPTION_LENGTHS | {"action_id": 255}
    ),
    "feedback_buttons": Rule(
        required=("positive_button.text", "negative_button.text"),
        lengths={
            "action_id": 255,
            "positive_button.text.text": 75,
            "positive_button.value": 2000,
            "negative_button.text.text": 75,
            "negative_button.value": 2000,
            "positive_button.accessibility_label": 75,
            "negative_button.accessibility_label": 75,
        },
        elements={"positive_button.text": _PLAIN, "negative_button.text": _PLAIN},
    ),
    "icon_button": Rule(
        required=("icon", "text"),
        lengths={"action_id": 255, "value": 2000, "accessibility_label": 75},
        elements={"text": _PLAIN},
    ),
    "text": Rule(required=("text",), nonempty=("text",)),
    "link": Rule(required=("url",), nonempty=("url",)),
    "user": Rule(required=("user_id",)),
    "plain_text_input": Rule(lengths={"action_id": 255, "placeholder.text": 150}),
} | dict.fromkeys(_SELECTS | _MULTI_SELECTS, _SELECT)

_CONFIRM = Rule(
    required=("title", "text", "confirm", "deny"),
    lengths={"title.text": 100, "text.text": 300, "confirm.text": 30, "deny.text": 30},
)
_COMMON = Rule(lengths={"block_id": 255})

VIEW_LENGTHS = {
    "title.text": 24,
    "submit.text": 24,
    "close.text": 24,
    "private_metadata": 3000,
    "callback_id": 255,
}


def block_problems(blocks: list[Json], surface: Surface) -> list[str]:
    """Return what Slack refuses in these blocks, in its own form of words; empty when all is well.

    Args:
        blocks: As given to a method.
        surface: Where they are to be shown.
    """
    problems = []
    if len(blocks) > MAX_BLOCKS[surface]:
        problems.append(_too_many("/blocks", MAX_BLOCKS[surface]))
    for index, block in enumerate(blocks):
        problems += _block_problems(block, surface, f"/blocks/{index}")
    problems += _repeated_ids(blocks)
    markdown = sum(len(str(b.get("text", ""))) for b in blocks if b.get("type") == "markdown")
    if markdown > MAX_MARKDOWN:
        problems.append(_error("/blocks", f"markdown text over {MAX_MARKDOWN} characters"))
    return problems + _table_problems(blocks)


def as_kept(blocks: list[Json]) -> list[Json]:
    """Return blocks as Slack keeps them: with ids, and with the defaults of text objects."""
    numbered = ({"block_id": f"b{n}"} | block for n, block in enumerate(blocks, start=1))
    return [with_defaults(block) for block in numbered]


def with_defaults(node: Any) -> Any:
    """Return a value in which every text object says `emoji` or `verbatim`, as Slack answers it."""
    if isinstance(node, list):
        return [with_defaults(child) for child in node]
    if not isinstance(node, dict):
        return node
    kept = {key: with_defaults(child) for key, child in node.items()}
    if isinstance(node.get("text"), str):
        if node.get("type") == "plain_text":
            return {"emoji": True} | kept
        if node.get("type") == "mrkdwn":
            return {"verbatim": False} | kept
    return kept


def view_problems(view: Json) -> list[str]:
    """Return what Slack refuses in a modal or Home view; empty when all is well."""
    kind = view.get("type")
    if kind not in (Surface.MODAL.value, Surface.HOME.value):
        return [_error("/view/type", "must be `modal` or `home`")]
    problems = []
    if kind == Surface.MODAL and "title" not in view:
        problems.append("missing required field: title")
    for path, most in VIEW_LENGTHS.items():
        problems += _length_problems(view, path, most, "/view")
    blocks = view.get("blocks")
    if not isinstance(blocks, list):
        return [*problems, "missing required field: blocks"]
    has_input = any(isinstance(b, dict) and b.get("type") == "input" for b in blocks)
    if kind == Surface.MODAL and has_input and not view.get("submit"):
        problems.append(_error("/view/submit", "is required with input blocks"))
    return problems + block_problems(blocks, Surface(kind))


def _block_problems(block: Json, surface: Surface, pointer: str) -> list[str]:
    kind = str(block.get("type", ""))
    rule = BLOCKS.get(kind)
    if rule is None:
        return [_error(f"{pointer}/type", f"unsupported type: {kind}")]
    if surface not in rule.surfaces:
        return [_error(f"{pointer}/type", f"{kind} is not allowed in a {surface}")]
    problems = _rule_problems(block, _COMMON, pointer) + _rule_problems(block, rule, pointer)
    for node, where in _elements(block, pointer):
        if element_rule := ELEMENTS.get(str(node.get("type", ""))):
            problems += _rule_problems(node, element_rule, where)
        if isinstance(node.get("confirm"), dict) and node.get("type") in ELEMENTS:
            problems += _rule_problems(node["confirm"], _CONFIRM, f"{where}/confirm")
    return problems + _repeated_actions(block, pointer)


def _rule_problems(node: Json, rule: Rule, pointer: str) -> list[str]:
    problems = []
    for path in rule.required:
        if not any(True for _ in _find(node, path, pointer)):
            problems.append(_error(pointer, f"missing required field: {path}"))
    if rule.one_of and not any(path in node for path in rule.one_of):
        problems.append(_error(pointer, f"must have one of: {', '.join(rule.one_of)}"))
    for path, most in rule.lengths.items():
        problems += _length_problems(node, path, most, pointer)
    for path, most in rule.counts.items():
        problems += [
            _too_many(where, most)
            for value, where in _find(node, path, pointer)
            if isinstance(value, list) and len(value) > most
        ]
    for path, kinds in rule.elements.items():
        problems += [
            _error(where, f"unsupported type: {value.get('type') if value else value}")
            for value, where in _find(node, path, pointer)
            if not isinstance(value, dict) or value.get("type") not in kinds
        ]
    for path in rule.nonempty:
        problems += [
            _error(where, "must not be empty")
            for value, where in _find(node, path, pointer)
            if value in ("", [])
        ]
    return problems


def _length_problems(node: Json, path: str, most: int, pointer: str) -> list[str]:
    return [
        _error(where, f"must be less than {most + 1} characters")
        for value, where in _find(node, path, pointer)
        if isinstance(value, str) and len(value) > most
    ]


def _find(node: Any, path: str, pointer: str) -> Iterator[tuple[Any, str]]:
    """Yield every (value, JSON pointer) at a dotted path; `[]` goes through a list."""
    head, _, rest = path.partition(".")
    key = head.removesuffix("[]")
    if not isinstance(node, dict) or key not in node:
        return
    value, where = node[key], f"{pointer}/{key}"
    found = [(value, where)]
    if head.endswith("[]"):
        items = value if isinstance(value, list) else []
        found = [(item, f"{where}/{index}") for index, item in enumerate(items)]
    for item, place in found:
        if rest:
            yield from _find(item, rest, place)
        else:
            yield item, place


def _elements(node: Any, pointer: str) -> Iterator[tuple[Json, str]]:
    """Yield every object below a block, with its pointer."""
    if isinstance(node, dict):
        for key, child in node.items():
            if isinstance(child, dict):
                yield child, f"{pointer}/{key}"
            yield from _elements(child, f"{pointer}/{key}")
    elif isinstance(node, list):
        for index, child in enumerate(node):
            if isinstance(child, dict):
                yield child, f"{pointer}/{index}"
            yield from _elements(child, f"{pointer}/{index}")


def _repeated_ids(blocks: list[Json]) -> list[str]:
    seen: set[str] = set()
    problems = []
    for index, block in enumerate(blocks):
        block_id = block.get("block_id")
        if block_id and block_id in seen:
            problems.append(_error(f"/blocks/{index}/block_id", "`block_id` already exists"))
        seen.add(str(block_id))
    return problems


def _repeated_actions(block: Json, pointer: str) -> list[str]:
    ids = [
        node["action_id"]
        for node, _ in _elements(block, pointer)
        if isinstance(node.get("action_id"), str)
    ]
    return [] if len(ids) == len(set(ids)) else [_error(pointer, "`action_id` already exists")]


def _table_problems(blocks: list[Json]) -> list[str]:
    problems = []
    data = 0
    for index, block in enumerate(blocks):
        characters = sum(_characters(row) for row in block.get("rows", ()))
        if block.get("type") == "table" and characters > MAX_TABLE:
            problems.append(_error(f"/blocks/{index}/rows", f"over {MAX_TABLE} characters"))
        if block.get("type") == "data_table":
            data += characters
    if data > MAX_DATA_TABLES:
        problems.append(_error("/blocks", f"data tables over {MAX_DATA_TABLES} characters"))
    return problems


def _characters(node: Any) -> int:
    if isinstance(node, dict):
        text = node.get("text")
        own = len(text) if isinstance(text, str) else 0
        return own + sum(_characters(child) for child in node.values())
    if isinstance(node, list):
        return sum(_characters(child) for child in node)
    return 0


def _error(pointer: str, words: str) -> str:
    return f"[ERROR] {words} [json-pointer:{pointer}]"


def _too_many(pointer: str, most: int) -> str:
    return _error(pointer, f"no more than {most} items allowed")


def limit_uses(blocks: list[Json], surface: Surface) -> list[dict[str, Any]]:
    """Return how much of each limit these blocks use: `what`, `used`, `most`.

    Blocks and their elements of one type count together, each limit with its fullest example.
    """
    uses = {"blocks": (len(blocks), MAX_BLOCKS[surface])}
    markdown = sum(len(str(b.get("text", ""))) for b in blocks if b.get("type") == "markdown")
    if markdown:
        uses["markdown"] = (markdown, MAX_MARKDOWN)
    for block in blocks:
        for node, rule in _with_rules(block):
            kind = str(node["type"])
            for path, most in rule.lengths.items():
                texts = (value for value, _ in _find(node, path, "") if isinstance(value, str))
                _use(uses, f"{kind}.{path}", max(map(len, texts), default=0), most)
            for path, most in rule.counts.items():
                lists = (value for value, _ in _find(node, path, "") if isinstance(value, list))
                _use(uses, f"{kind}.{path}", max(map(len, lists), default=0), most)
    return [{"what": what, "used": used, "most": most} for what, (used, most) in uses.items()]


def _with_rules(block: Json) -> Iterator[tuple[Json, Rule]]:
    if rule := BLOCKS.get(str(block.get("type"))):
        yield block, rule
    for node, _ in _elements(block, ""):
        if rule := ELEMENTS.get(str(node.get("type"))):
            yield node, rule


def _use(uses: dict[str, tuple[int, int]], what: str, used: int, most: int) -> None:
    if used:
        uses[what] = (max(used, uses.get(what, (0, most))[0]), most)

"""Each limit of Block Kit at its edge, and one past it."""

import pytest
from slack_sdk.models import blocks as sdk
from slack_sdk.models.blocks import basic_components as sdk_parts
from slack_sdk.models.views import View as SdkView

from bot.sandbox import blocks as tables
from bot.sandbox.blocks import BLOCKS, ELEMENTS, MAX_BLOCKS, Surface, block_problems, view_problems


def plain(text: str) -> dict:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> dict:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more) -> dict:
    return {"type": "section", "text": mrkdwn(text), **more}


def button(label: str = "Go", **more) -> dict:
    return {"type": "button", "action_id": "go", "text": plain(label), **more}


def feedback(label: str = "Oui", value: str = "up") -> dict:
    good = {"text": plain(label), "value": value}
    bad = {"text": plain("Non"), "value": "down"}
    element = {
        "type": "feedback_buttons",
        "action_id": "f",
        "positive_button": good,
        "negative_button": bad,
    }
    return {"type": "context_actions", "elements": [element]}


def actions(*elements: dict) -> dict:
    return {"type": "actions", "elements": list(elements)}


def select(count: int, label: str = "a", value: str = "v") -> dict:
    options = [{"text": plain(label), "value": f"{value}"} for _ in range(count)]
    return {"type": "static_select", "action_id": "s", "options": options}


def rows(count: int, columns: int = 1, text: str = "x") -> list:
    return [[{"type": "raw_text", "text": text}] * columns] * count


def confirmed(title: str = "Sûr ?", text: str = "Vraiment.") -> list[dict]:
    asking = {
        "title": plain(title),
        "text": plain(text),
        "confirm": plain("Oui"),
        "deny": plain("Non"),
    }
    return [actions(button(confirm=asking))]


def overflow(count: int) -> dict:
    options = [{"text": plain("a"), "value": f"v{i}"} for i in range(count)]
    return {"type": "overflow", "action_id": "o", "options": options}


def card(title: str = "Titre", subtitle: str = "Sous-titre", body: str = "Corps") -> dict:
    texts = {"title": title, "subtitle": subtitle, "body": body}
    return {"type": "card"} | {name: mrkdwn(text) for name, text in texts.items()}


AT_THE_EDGE = {
    "section text": lambda n: [section("x" * n)],
    "section fields": lambda n: [{"type": "section", "fields": [mrkdwn("x")] * n}],
    "section field text": lambda n: [{"type": "section", "fields": [mrkdwn("x" * n)]}],
    "header text": lambda n: [{"type": "header", "text": plain("x" * n)}],
    "context elements": lambda n: [{"type": "context", "elements": [mrkdwn("x")] * n}],
    "actions elements": lambda n: [actions(*(button(action_id=f"a{i}") for i in range(n)))],
    "markdown text": lambda n: [{"type": "markdown", "text": "x" * n}],
    "markdown blocks together": lambda n: [
        {"type": "markdown", "text": "x" * (n // 2)},
        {"type": "markdown", "text": "x" * (n - n // 2)},
    ],
    "blocks of a message": lambda n: [section()] * n,
    "block id": lambda n: [section(block_id="x" * n)],
    "action id": lambda n: [actions(button(action_id="x" * n))],
    "button text": lambda n: [actions(button("x" * n))],
    "button value": lambda n: [actions(button(value="x" * n))],
    "button url": lambda n: [actions(button(url="x" * n))],
    "feedback label": lambda n: [feedback("x" * n)],
    "feedback value": lambda n: [feedback(value="x" * n)],
    "select options": lambda n: [actions(select(n))],
    "option text": lambda n: [actions(select(1, label="x" * n))],
    "option value": lambda n: [actions(select(1, value="x" * n))],
    "image alt text": lambda n: [
        {"type": "image", "image_url": "https://x.y", "alt_text": "x" * n}
    ],
    "table rows": lambda n: [{"type": "table", "rows": rows(n)}],
    "table columns": lambda n: [{"type": "table", "rows": rows(1, columns=n)}],
    "table characters": lambda n: [{"type": "table", "rows": rows(1, text="x" * n)}],
    "confirm title": lambda n: confirmed(title="x" * n),
    "confirm text": lambda n: confirmed(text="x" * n),
    "accessibility label": lambda n: [actions(button(accessibility_label="x" * n))],
    "context actions": lambda n: [
        {
            "type": "context_actions",
            "elements": [
                {
                    "type": "icon_button",
                    "icon": "trash",
                    "action_id": f"i{i}",
                    "text": plain("Effacer"),
                }
                for i in range(n)
            ],
        }
    ],
    "overflow options": lambda n: [actions(overflow(n))],
    "card title": lambda n: [card(title="x" * n)],
    "card subtitle": lambda n: [card(subtitle="x" * n)],
    "card body": lambda n: [card(body="x" * n)],
    "carousel cards": lambda n: [{"type": "carousel", "elements": [card()] * n}],
    "container children": lambda n: [
        {"type": "container", "title": plain("Titre"), "child_blocks": [section()] * n}
    ],
    "data table columns": lambda n: [
        {"type": "data_table", "caption": "c", "rows": rows(1, columns=n)}
    ],
    "data table rows": lambda n: [{"type": "data_table", "caption": "c", "rows": rows(n)}],
    "data table characters": lambda n: [
        {"type": "data_table", "caption": "c", "rows": rows(1, text="x" * n)}
    ],
}
LIMITS = {
    "section text": 3000,
    "section fields": 10,
    "section field text": 2000,
    "header text": 150,
    "context elements": 10,
    "actions elements": 25,
    "markdown text": 12000,
    "markdown blocks together": 12000,
    "blocks of a message": 50,
    "block id": 255,
    "action id": 255,
    "button text": 75,
    "button value": 2000,
    "button url": 3000,
    "feedback label": 75,
    "feedback value": 2000,
    "select options": 100,
    "option text": 75,
    "option value": 150,
    "image alt text": 2000,
    "table rows": 100,
    "table columns": 20,
    "table characters": 10000,
    "confirm title": 100,
    "confirm text": 300,
    "accessibility label": 75,
    "context actions": 5,
    "overflow options": 5,
    "card title": 150,
    "card subtitle": 150,
    "card body": 200,
    "carousel cards": 10,
    "container children": 10,
    "data table columns": 20,
    "data table rows": 201,
    "data table characters": 20000,
}


@pytest.mark.parametrize("name", LIMITS)
def test_limit_is_accepted_at_its_edge_and_refused_one_past_it(name):
    make, limit = AT_THE_EDGE[name], LIMITS[name]
    assert block_problems(make(limit), Surface.MESSAGE) == []
    assert block_problems(make(limit + 1), Surface.MESSAGE) != []


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "no_such_block"},
        {"type": "section"},
        section(""),
        {"type": "header", "text": mrkdwn("x")},
        {"type": "actions", "elements": []},
        {"type": "actions", "elements": [{"type": "feedback_buttons"}]},
        {"type": "context", "elements": [button()]},
        {"type": "alert", "text": plain("x")},
        actions(button(), button()),
        {"type": "rich_text", "elements": [{"type": "text", "text": "x"}]},
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]},
            ],
        },
    ],
    ids=str,
)
def test_malformed_block_is_refused(wrong):
    assert block_problems([wrong], Surface.MESSAGE) != []


def test_repeated_block_id_is_refused():
    assert block_problems([section(block_id="a"), section(block_id="a")], Surface.MESSAGE) != []


@pytest.mark.parametrize("kind", ["markdown", "context_actions", "task_card"])
def test_home_lacks_what_only_messages_have(kind):
    assert Surface.HOME not in BLOCKS[kind].surfaces
    assert Surface.MESSAGE in BLOCKS[kind].surfaces


@pytest.mark.parametrize("kind", ["table", "data_table", "container"])
def test_modals_lack_tables(kind):
    assert Surface.MODAL not in BLOCKS[kind].surfaces


def modal(**changes) -> dict:
    return {"type": "modal", "title": plain("Titre"), "blocks": [section()]} | changes


def test_plain_modal_is_accepted():
    assert view_problems(modal()) == []


VIEW_LIMITS = {
    "title": (24, lambda n: {"title": plain("x" * n)}),
    "submit": (24, lambda n: {"submit": plain("x" * n)}),
    "close": (24, lambda n: {"close": plain("x" * n)}),
    "private metadata": (3000, lambda n: {"private_metadata": "x" * n}),
    "callback id": (255, lambda n: {"callback_id": "x" * n}),
    "blocks": (100, lambda n: {"blocks": [section()] * n}),
}


@pytest.mark.parametrize("name", VIEW_LIMITS)
def test_limit_of_a_view_is_accepted_at_its_edge_and_refused_one_past_it(name):
    limit, change = VIEW_LIMITS[name]
    assert view_problems(modal(**change(limit))) == []
    assert view_problems(modal(**change(limit + 1))) != []


@pytest.mark.parametrize("kind", ["home", "modal"])
def test_surface_takes_a_hundred_blocks(kind):
    assert MAX_BLOCKS[Surface(kind)] == 100


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "dialog"},
        {
            "blocks": [
                {
                    "type": "input",
                    "label": plain("x"),
                    "element": {"type": "plain_text_input", "action_id": "a"},
                }
            ]
        },
    ],
    ids=str,
)
def test_malformed_view_is_refused(changes):
    assert view_problems(modal(**changes)) != []


def test_view_without_title_is_refused_in_slacks_words():
    view = modal()
    del view["title"]
    assert "missing required field: title" in view_problems(view)


def test_table_of_limits_equals_the_constants_of_slack_sdk():
    ours = {
        "section text": BLOCKS["section"].lengths["text.text"],
        "section fields": BLOCKS["section"].counts["fields"],
        "header": BLOCKS["header"].lengths["text.text"],
        "actions": BLOCKS["actions"].counts["elements"],
        "context": BLOCKS["context"].counts["elements"],
        "context_actions": BLOCKS["context_actions"].counts["elements"],
        "markdown": BLOCKS["markdown"].lengths["text"],
        "alt text": BLOCKS["image"].lengths["alt_text"],
        "button text": ELEMENTS["button"].lengths["text.text"],
        "button value": ELEMENTS["button"].lengths["value"],
        "button url": ELEMENTS["button"].lengths["url"],
        "feedback text": ELEMENTS["feedback_buttons"].lengths["positive_button.text.text"],
        "feedback value": ELEMENTS["feedback_buttons"].lengths["positive_button.value"],
        "options": ELEMENTS["static_select"].counts["options"],
        "overflow": ELEMENTS["overflow"].counts["options"],
        "option text": ELEMENTS["static_select"].lengths["options[].text.text"],
        "option value": ELEMENTS["static_select"].lengths["options[].value"],
        "view title": tables.VIEW_LENGTHS["title.text"],
        "private metadata": tables.VIEW_LENGTHS["private_metadata"],
        "callback id": tables.VIEW_LENGTHS["callback_id"],
        "view blocks": MAX_BLOCKS[Surface.MODAL],
        "card title": BLOCKS["card"].lengths["title.text"],
        "card body": BLOCKS["card"].lengths["body.text"],
        "carousel": BLOCKS["carousel"].counts["elements"],
        "container": BLOCKS["container"].counts["child_blocks"],
    }
    theirs = {
        "section text": sdk.SectionBlock.text_max_length,
        "section fields": sdk.SectionBlock.fields_max_length,
        "header": sdk.HeaderBlock.text_max_length,
        "actions": sdk.ActionsBlock.elements_max_length,
        "context": sdk.ContextBlock.elements_max_length,
        "context_actions": sdk.ContextActionsBlock.elements_max_length,
        "markdown": sdk.MarkdownBlock.text_max_length,
        "alt text": sdk.ImageBlock.alt_text_max_length,
        "button text": sdk.ButtonElement.text_max_length,
        "button value": sdk.ButtonElement.value_max_length,
        "button url": sdk.ButtonElement.url_max_length,
        "feedback text": sdk_parts.FeedbackButtonObject.text_max_length,
        "feedback value": sdk_parts.FeedbackButtonObject.value_max_length,
        "options": sdk.StaticSelectElement.options_max_length,
        "overflow": sdk.OverflowMenuElement.options_max_length,
        "option text": sdk_parts.Option.label_max_length,
        "option value": sdk_parts.Option.value_max_length,
        "view title": SdkView.title_max_length,
        "private metadata": SdkView.private_metadata_max_length,
        "callback id": SdkView.callback_id_max_length,
        "view blocks": SdkView.blocks_max_length,
        "card title": sdk.CardBlock.title_max_length,
        "card body": sdk.CardBlock.body_max_length,
        "carousel": sdk.CarouselBlock.elements_max_length,
        "container": sdk.ContainerBlock.child_blocks_max_length,
    }
    assert ours == theirs

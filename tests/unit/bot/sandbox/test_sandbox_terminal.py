"""Messages drawn in a terminal, as a person would see them."""

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.terminal import author, draw
from bot.sandbox.workspace import Message


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox()


def posted(sandbox: Sandbox, text: str = "", blocks: list | None = None) -> Message:
    workspace = sandbox.workspace()
    channel = workspace.channel("general")
    return workspace.post(channel, sandbox.bot_id, text, blocks=blocks or [], bot=workspace.bot)


def lines(sandbox: Sandbox, message: Message) -> list[str]:
    return [line.plain for line in draw(sandbox.workspace(), message)]


def test_blocks_are_shown_instead_of_text(sandbox):
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "*Deux* jours &amp; demi"}}
    assert lines(sandbox, posted(sandbox, "texte", [section])) == ["Deux jours & demi"]


def test_text_is_shown_where_there_are_no_blocks_with_names_and_links(sandbox):
    text = f"<@{sandbox.bot_id}> voir <https://a.fr|le guide> &lt;b&gt;\nligne"
    assert lines(sandbox, posted(sandbox, text)) == ["@Manuel voir le guide <b>", "ligne"]


def test_quotes_lists_and_dim_context_are_drawn(sandbox):
    def section(text: str) -> dict:
        return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}

    rich = {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_quote", "elements": [{"type": "text", "text": "a\nb"}]},
            {
                "type": "rich_text_list",
                "style": "ordered",
                "offset": 1,
                "elements": [section("deux"), section("trois")],
            },
        ],
    }
    context = {"type": "context", "elements": [{"type": "mrkdwn", "text": "_pied_"}]}
    drawn = lines(sandbox, posted(sandbox, "", [rich, context]))
    assert drawn == ["│ a", "│ b", "2. deux", "3. trois", "pied"]


def test_typed_markup_of_a_page_is_not_taken_for_terminal_markup(sandbox):
    rich = {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": "[bold]x[/bold] \x1b[31m"}],
            }
        ],
    }
    [line] = draw(sandbox.workspace(), posted(sandbox, "", [rich]))
    assert "[bold]x[/bold]" in line.plain
    assert "\x1b" not in line.plain


def test_app_is_marked_as_such(sandbox):
    assert author(sandbox.workspace(), posted(sandbox, "x")).plain == "Manuel APP"

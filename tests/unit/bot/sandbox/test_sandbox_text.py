"""What somebody types, and what Slack makes of it."""

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.text import notifying_tokens, rich_text, typed, unescape


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox()


def test_name_of_the_app_becomes_a_mention(sandbox):
    text = typed(sandbox.workspace(), "@Manuel combien ?")
    assert text == f"<@{sandbox.bot_id}> combien ?"


def test_typed_broadcast_token_is_escaped_but_at_channel_is_live(sandbox):
    assert typed(sandbox.workspace(), "<!channel>") == "&lt;!channel&gt;"
    assert typed(sandbox.workspace(), "@channel") == "<!channel>"


def test_unknown_names_stay_words(sandbox):
    assert typed(sandbox.workspace(), "@nobody #nowhere <@U0NOBODY>") == (
        "@nobody #nowhere &lt;@U0NOBODY&gt;"
    )


def test_addresses_and_channels_become_tokens(sandbox):
    channel = sandbox.workspace().channel("general")
    text = typed(sandbox.workspace(), "https://a.fr/?b=1&c=2 a.b@c.fr #general")
    assert text == (
        f"<https://a.fr/?b=1&amp;c=2> <mailto:a.b@c.fr|a.b@c.fr> <#{channel.channel_id}|general>"
    )


def test_escaping_is_undone_to_what_was_typed():
    assert unescape("&lt;b&gt; &amp;amp;") == "<b> &amp;"


def test_rich_text_of_a_mention_holds_a_user_element_and_plain_text():
    [block] = rich_text("<@U1> a &lt; b")
    assert block["elements"][0]["elements"] == [
        {"type": "user", "user_id": "U1"},
        {"type": "text", "text": " a < b"},
    ]


@pytest.mark.parametrize(
    ("text", "blocks", "expected"),
    [
        ("<!channel> <@U1> <!subteam^S1|rh>", [], ["<!channel>", "<@U1>", "<!subteam^S1|rh>"]),
        ("&lt;!channel&gt; <https://a.b|x>", [], []),
        ("", [{"type": "section", "text": {"type": "mrkdwn", "text": "<!here>"}}], ["<!here>"]),
        ("", [{"type": "section", "text": {"type": "plain_text", "text": "<!here>"}}], []),
        ("", [{"type": "markdown", "text": "<@U1>"}], ["<@U1>"]),
        ("", rich_text("<!everyone>"), ["<!everyone>"]),
        ("", rich_text("&lt;!everyone&gt;"), []),
    ],
)
def test_tokens_that_notify_are_found_wherever_slack_reads_them(sandbox, text, blocks, expected):
    channel = sandbox.workspace().channel("general")
    message = sandbox.workspace().post(channel, sandbox.bot_id, text, blocks=blocks)
    assert notifying_tokens(message) == expected

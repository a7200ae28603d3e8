"""What an incoming message says, and how to say something safely."""

import pytest

from bot.slack.mrkdwn import clean, escape, escaped_within, question_text, safe_url, shortened


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        ("<@UBOT> combien de congés ?", "combien de congés ?"),
        ("combien <@UBOT> de congés ?", "combien de congés ?"),
        ("<@UBOT>", ""),
        ("<@UBOT|manuel>  ", ""),
        ("<@UBOT> le manager de <@U2|zoe> ?", "le manager de @zoe ?"),
        ("<@UBOT> et <@U2> ?", "et ?"),
        ("voir <#C1|general> ou <#C2|>", "voir #general ou"),
        ("<!subteam^S1|@rh> et <!here> et <!channel|@channel>", "@rh et @here et @channel"),
        ("le <!date^1392734382^{date}|18 février>", "le 18 février"),
        ("<https://evil.example|notre site> dit ?", "notre site dit ?"),
        ("<https://ok.example/a?b=1&amp;c=2>", "https://ok.example/a?b=1&c=2"),
        (
            "<mailto:rh@x.example|rh@x.example> ou <mailto:a@x.example>",
            "rh@x.example ou a@x.example",
        ),
        ("R&amp;D &lt;b&gt; &amp;lt;", "R&D <b> &lt;"),
        ("ligne 1\n\n  ligne   2 ", "ligne 1\n\nligne 2"),
        ("a\x00b\u202ec", "abc"),
        ("\ud83d seul", "? seul"),
    ],
)
def test_a_question_is_read_as_its_author_saw_it(sent: str, asked: str) -> None:
    assert question_text(sent, "UBOT") == asked


def test_typed_angle_brackets_stay_text_and_never_become_a_mention() -> None:
    asked = question_text("&lt;!channel&gt; &lt;@U2&gt;", "UBOT")

    assert asked == "<!channel> <@U2>"
    assert escape(asked) == "&lt;!channel&gt; &lt;@U2&gt;"


def test_escaping_leaves_everything_but_the_three_characters() -> None:
    assert escape("a & b < c > *d* _e_ `f` @g") == "a &amp; b &lt; c &gt; *d* _e_ `f` @g"


def test_a_cut_text_fits_and_cuts_no_entity() -> None:
    cut = escaped_within("&" * 50, 23)

    assert len(cut) <= 23
    assert cut == "&amp;" * 4 + "…"
    assert escaped_within("court", 5) == "court"
    assert shortened("bonjour", 4) == "bon…"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "slack://open",
        "https://",
        "https://x.example/a b",
        "https://x.example/|<!channel>",
        "https://x.example/\n",
        "https://[broken",
        "https://x.example/" + "a" * 3000,
        "",
        None,
    ],
)
def test_only_plain_web_addresses_become_links(url: str | None) -> None:
    assert safe_url(url) is None


def test_a_web_address_is_kept_as_it_is() -> None:
    assert safe_url("https://x.example/a?b=c&d#e") == "https://x.example/a?b=c&d#e"


def test_cleaning_keeps_tabs_and_lines() -> None:
    assert clean("a\tb\r\nc\rd\x07") == "a\tb\nc\nd"

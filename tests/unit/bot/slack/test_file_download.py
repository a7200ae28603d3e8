"""The bot token goes to Slack's hosts and nowhere else."""

import pytest

from bot.slack.file_download import is_slack_host

STAND_IN = "http://127.0.0.1:4000/api/"


@pytest.mark.parametrize(
    ("url", "api_url", "may"),
    [
        ("https://files.slack.com/files-pri/T1-F1/download/a.docx", "https://slack.com/api/", True),
        ("https://example.slack.com/files-pri/T1-F1/a.docx", "https://slack.com/api/", True),
        ("https://files.slack-gov.com/a.docx", "https://slack-gov.com/api/", True),
        ("http://127.0.0.1:4000/files-pri/T1-F1/download/a.docx", STAND_IN, True),
        ("http://127.0.0.1:4001/files-pri/T1-F1/download/a.docx", STAND_IN, False),
        ("http://files.slack.com/a.docx", "https://slack.com/api/", False),
        ("https://files.slack.com.example.com/a.docx", "https://slack.com/api/", False),
        ("https://evilslack.com/a.docx", "https://slack.com/api/", False),
        ("https://slack.com@example.com/a.docx", "https://slack.com/api/", False),
        ("file:///etc/passwd", "https://slack.com/api/", False),
        ("", "https://slack.com/api/", False),
    ],
)
def test_only_slack_gets_the_token(url: str, api_url: str, may: bool) -> None:
    assert is_slack_host(url, api_url) is may

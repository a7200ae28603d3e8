"""Errors of the answering side, children of `ingest.HandbookError`.

BotError
├── GenerationError
│   ├── AnswerUnavailable          the model is down, slow, refusing or out of budget
│   └── AnswerNotGrounded          the model answered, but nothing it said can be shown
└── SlackDeliveryError             Slack refused a message
"""

from ingest.errors import HandbookError


class BotError(HandbookError):
    """Something went wrong on the answering side."""


class GenerationError(BotError):
    """A generator produced no usable draft."""


class AnswerUnavailable(GenerationError):  # noqa: N818 - name fixed by the design
    """The model could not be reached or did not answer: an outage, never an abstention."""


class AnswerNotGrounded(GenerationError):  # noqa: N818 - name fixed by the design
    """The model's draft has no claim that its passages support."""


class SlackDeliveryError(BotError):
    """Slack refused or lost a message."""

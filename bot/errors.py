"""Errors of the answering side, children of `ingest.HandbookError`.

BotError
├── GenerationError
│   ├── AnswerUnavailable          the model is down, slow, refusing or out of budget
│   └── AnswerNotGrounded          the model answered, but nothing it said can be shown
├── AnswerAbandoned                nobody waits for the answer any more
├── ReadingFailed                  the model of READER_MODEL or RERANKER_MODEL fails
├── VaultError                     a stored token cannot be opened with the keys there are
├── WorkspaceUnavailable           we cannot act in a workspace now, but perhaps later
├── JobStoreError                  the bot's own tables cannot be read or written now
└── SlackDeliveryError             Slack refused or lost a message
    ├── DeliveryDelayed            not taken, for certain: try again later
    ├── DeliveryUncertain          taken or not, nobody knows: look before trying again
    └── DeliveryRefused            never going to be taken
"""

from ingest import HandbookError


class BotError(HandbookError):
    """Something went wrong on the answering side."""


class GenerationError(BotError):
    """A generator produced no usable draft."""


class AnswerUnavailable(GenerationError):  # noqa: N818 - name fixed by the design
    """The model could not be reached or did not answer: an outage, never an abstention."""


class AnswerNotGrounded(GenerationError):  # noqa: N818 - name fixed by the design
    """The model's draft has no claim that its passages support."""


class AnswerAbandoned(BotError):  # noqa: N818 - says how things are, as its siblings do
    """Nobody waits for the answer any more: it was stopped, or the process ends."""


class ReadingFailed(BotError):  # noqa: N818 - says how things are, as its siblings do
    """A reader could not tell whether passages answer: the check does without."""


class JobStoreError(BotError):
    """The bot's own tables cannot be read or written now."""


class VaultError(BotError):
    """A stored secret cannot be opened with the keys of the settings."""


class WorkspaceUnavailable(BotError):  # noqa: N818 - says how things are, as its siblings do
    """We cannot act in a workspace now."""


class SlackDeliveryError(BotError):
    """Slack refused or lost a message."""


class DeliveryDelayed(SlackDeliveryError):  # noqa: N818 - says what to do, as its siblings do
    """Slack did not take the message, for certain; it may be tried again.

    Attributes:
        retry_after_s: How long Slack asks to wait, or None.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DeliveryUncertain(SlackDeliveryError):  # noqa: N818
    """The connection broke around a post: it may or may not stand in the channel."""


class DeliveryRefused(SlackDeliveryError):  # noqa: N818
    """Slack will not take this message, now or later.

    Attributes:
        reason: Slack's error code.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"Slack refused the message: {reason}")
        self.reason = reason

"""Lets the claims of an answer out one by one, while the model still writes the rest.

A claim let out is in the answer as well: what is still open about the answer holds it back. Only a
model that fails half-way takes claims back, as another answer then stands in for its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.answering.support import hard_rules
from bot.grounding.disagreement import Disagreements
from bot.grounding.verifier import verify
from bot.grounding.wording import Closeness
from bot.records import Claim, Draft, DraftClaim, Passage, collapse
from bot.retrieval.query import Query

OnClaim = Callable[[Claim], None]
"""Gets each claim as soon as it is certain to be shown, in the order of the draft."""


class ClaimRelease:
    """Takes the claims of one draft as they are written, and lets out what is certain.

    Args:
        query: The question, analysed.
        passages: All that was retrieved.
        closeness: Compares a sentence with a quote in another language.
        on_claim: Gets what is let out.
    """

    def __init__(
        self,
        query: Query,
        passages: Sequence[Passage],
        closeness: Closeness | None,
        on_claim: OnClaim,
    ) -> None:
        self._query = query
        self._passages = passages
        self._closeness = closeness
        self._on_claim = on_claim
        self._disagreements = Disagreements(passages, closeness)
        self._claims: list[Claim] = []
        self._said: set[str] = set()
        self._let_out = 0
        self._held_back = False

    def take(self, drafted: DraftClaim) -> None:
        """Pass a claim through the gate, and let out what has become certain with it.

        The gate judges each claim by itself but for repetitions, so the verdict on the whole draft
        will be the same.
        """
        if self._held_back or collapse(drafted.sentence) in self._said:
            return
        draft = Draft((drafted,), self._query.language, confidence=0.0)
        verified = verify(
            draft, self._passages, question=self._query.text, closeness=self._closeness
        )
        if not verified.claims:
            return
        self._said.add(collapse(drafted.sentence))
        self._claims += verified.claims
        # Pages that disagree are shown side by side, and an outdated one may give way: which, only
        # the whole answer tells.
        claims = tuple(self._claims)
        shown, disagree = self._disagreements.among(claims)
        if disagree or shown != claims or claims[-1].citation.passage.chunk.outdated:
            self._held_back = True
            return
        # Every hard rule asks for something that some claim must hold: what satisfies it once,
        # satisfies it whatever is added, and a model's draft that breaks no rule is shown.
        if hard_rules(self._query, claims):
            return
        for claim in claims[self._let_out :]:
            self._let_out += 1
            self._on_claim(claim)

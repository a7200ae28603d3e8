"""Questions that ask the same thing are counted together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bot.gaps import CLOSE, Gap, group_alike
from ingest import Vector


def nothing(texts: Sequence[str]) -> None:
    return None


def by_first_word(texts: Sequence[str]) -> Vector:
    """Texts with the same first word point the same way, others at right angles."""
    words = sorted({text.split()[0] for text in texts})
    return np.array([[float(text.split()[0] == word) for word in words] for text in texts])


def test_the_same_words_count_together_whatever_case_accents_and_spaces() -> None:
    asked = ["Où est la cantine ?", "ou est la  cantine ?", "OÙ EST LA CANTINE ?"]

    assert group_alike(asked, nothing) == (Gap("Où est la cantine ?", 3),)


def test_without_an_encoder_questions_that_share_most_stems_count_together() -> None:
    asked = ["mot de passe du wifi", "les mots de passe du wifi ?", "horaires de la cantine"]

    assert group_alike(asked, nothing) == (
        Gap("les mots de passe du wifi ?", 2),
        Gap("horaires de la cantine", 1),
    )


def test_with_an_encoder_questions_of_the_same_meaning_count_together() -> None:
    asked = ["wifi code", "chien au bureau", "wifi password", "chien accepté"]

    assert group_alike(asked, by_first_word) == (Gap("chien accepté", 2), Gap("wifi code", 2))


def test_a_group_is_named_by_its_commonest_wording_and_the_largest_comes_first() -> None:
    asked = ["wifi mdp", "wifi code", "wifi code", "parking ?"]

    assert group_alike(asked, by_first_word) == (Gap("wifi code", 3), Gap("parking ?", 1))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_order_in_which_they_were_asked_does_not_matter(order: tuple[int, ...]) -> None:
    asked = ["wifi code", "wifi mdp", "chien ?", "parking ?"]

    assert group_alike([asked[i] for i in order], by_first_word) == group_alike(
        asked, by_first_word
    )


def test_likeness_begins_at_the_threshold() -> None:
    def at(cosine: float) -> Vector:
        return np.array([[1.0, 0.0], [cosine, (1 - cosine**2) ** 0.5]])

    assert len(group_alike(["a", "b"], lambda _: at(CLOSE + 1e-6))) == 1
    assert len(group_alike(["a", "b"], lambda _: at(CLOSE - 1e-3))) == 2


def test_questions_without_a_word_are_left_out() -> None:
    assert group_alike(["", "   "], nothing) == ()
    assert group_alike([], by_first_word) == ()

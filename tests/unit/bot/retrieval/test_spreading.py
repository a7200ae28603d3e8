"""No page takes all the places in front."""

from bot.records import Passage
from bot.retrieval.spreading import spread
from tests.fakes import stored_chunk


def passages(*pages: str) -> list[Passage]:
    return [
        Passage(stored_chunk(str(i), "Un texte.", page=page), rank=i + 1, score=1.0 - i / 10)
        for i, page in enumerate(pages)
    ]


def test_what_a_page_has_too_much_comes_behind_in_its_order():
    ordered = spread(passages("a", "a", "a", "b", "a", "c"), per_page=2)
    assert [p.chunk.chunk_id for p in ordered] == ["0", "1", "3", "5", "2", "4"]
    assert [p.rank for p in ordered] == [1, 2, 3, 4, 5, 6]


def test_a_single_page_keeps_everything():
    assert len(spread(passages("a", "a", "a"), per_page=1)) == 3

"""Pages are cut along their headings into chunks that can be understood alone."""

from textwrap import dedent

import pytest

from ingest.chunking import MAX_ATOM_WORDS, MAX_WORDS, chunk_page, pipeline_version
from ingest.pages import build_page
from ingest.parsing import parse
from ingest.parsing.media import MARKDOWN
from ingest.records import Chunk, Page, RawPage, UnitKind


def page(source: str, path: str = "page.md") -> Page:
    raw = RawPage(path=path, content=dedent(source).encode(), media_type=MARKDOWN)
    return build_page("handbook", raw, parse(raw), version="1")


def chunks(source: str) -> list[Chunk]:
    return chunk_page(page(source))


def words(count: int, word: str = "mot") -> str:
    """Return sentences of ten words, `count` words in all."""
    sentence = " ".join([word.capitalize(), *[word] * 8, f"{word}."])
    return " ".join([sentence] * (count // 10))


def test_each_section_is_a_chunk_with_its_heading_path_and_anchor() -> None:
    found = chunks(
        f"# Congés\n\n{words(60)}\n\n## Durée\n\n{words(60)}\n\n### Cadres\n\n{words(60)}\n\n"
        f"## Demande\n\n{words(60)}\n"
    )
    assert [(chunk.heading_path, chunk.anchor) for chunk in found] == [
        ((), "congés"),
        (("Durée",), "durée"),
        (("Durée", "Cadres"), "cadres"),
        (("Demande",), "demande"),
    ]
    assert [chunk.position for chunk in found] == [0, 1, 2, 3]
    assert all(chunk.text.startswith("Mot") for chunk in found)


def test_offsets_locate_the_chunk_in_the_page() -> None:
    whole = page(f"# A\n\n{words(300)}\n\n- {words(50)}\n- {words(50)}\n\n## B\n\n{words(30)}")
    for chunk in chunk_page(whole):
        assert chunk.text == whole.text[chunk.start : chunk.end]


def test_a_long_section_is_cut_between_sentences_in_even_parts() -> None:
    found = chunks(f"## A\n\n{words(400)}")
    sizes = [len(chunk.text.split()) for chunk in found]
    assert sum(sizes) == 400
    assert max(sizes) <= MAX_WORDS
    assert min(sizes) >= 100
    assert all(chunk.text.endswith(".") for chunk in found)


def test_small_sections_of_one_parent_are_put_together_with_their_headings() -> None:
    found = chunks(
        f"# T\n\n## P\n\n### A\n\n{words(20)}\n\n### B\n\n{words(20)}\n\n## Q\n\n{words(60)}"
    )
    assert [chunk.heading_path for chunk in found] == [("P",), ("Q",)]
    assert found[0].text.startswith("A\n\nMot")
    assert "\n\nB\n\nMot" in found[0].text
    assert [unit.kind for unit in found[0].units].count(UnitKind.HEADING) == 2
    assert found[0].anchor == "a"


def test_a_short_introduction_joins_the_short_section_below_it() -> None:
    (chunk,) = chunks(f"# T\n\n## P\n\n{words(20)}\n\n### A\n\n{words(20)}")
    assert chunk.heading_path == ("P",)
    assert chunk.text.startswith("Mot")


def test_small_sections_of_different_parents_stay_apart() -> None:
    source = f"# T\n\n## P\n\n### A\n\n{words(20)}\n\n## Q\n\n### B\n\n{words(20)}"
    assert [chunk.heading_path for chunk in chunks(source)] == [("P", "A"), ("Q", "B")]


def test_a_list_that_fits_is_kept_whole_with_the_line_that_introduces_it() -> None:
    items = "\n".join(f"- {words(10)}" for _ in range(6))
    found = chunks(f"## A\n\n{words(100)}\n\nIl vous faut :\n\n{items}\n")
    assert found[-1].text.startswith("Il vous faut :")
    assert found[-1].context == ""
    assert sum(unit.kind is UnitKind.ITEM for unit in found[-1].units) == 6


def test_a_list_that_does_not_fit_carries_its_lead_in_along() -> None:
    items = "\n".join(f"- {words(20)}" for _ in range(12))
    found = chunks(f"## A\n\nIl vous faut :\n\n{items}\n")
    assert len(found) > 1
    assert [chunk.context for chunk in found[1:]] == ["Il vous faut :"] * (len(found) - 1)
    assert all(chunk.text.startswith("- Mot") for chunk in found[1:])


def test_a_table_that_does_not_fit_carries_its_header_row_along() -> None:
    rows = "\n".join(f"| {words(10)} | {n} € |" for n in range(30))
    found = chunks(f"## A\n\nPlafonds :\n\n| Frais | Plafond |\n|---|---|\n{rows}\n")
    assert len(found) > 1
    for chunk in found[1:]:
        assert chunk.context == "Plafonds :\n| Frais | Plafond |"
        assert all(line.startswith("| ") and line.endswith(" |") for line in chunk.text.split("\n"))


def test_units_carry_what_they_need_to_be_understood_alone() -> None:
    (chunk,) = chunks(
        """
        ## A

        Bonjour. Il faut :

        - un ordinateur
          - portable

        | Frais | Plafond |
        |---|---|
        | Repas | 20 € |

        ```
        code
        ```
        """
    )
    units = [(u.kind, chunk.text[u.start : u.end], u.context) for u in chunk.units]
    assert units == [
        (UnitKind.SENTENCE, "Bonjour.", ""),
        (UnitKind.SENTENCE, "Il faut :", ""),
        (UnitKind.ITEM, "- un ordinateur", "Il faut :"),
        (UnitKind.ITEM, "- portable", "Il faut :\nun ordinateur"),
        (UnitKind.HEADING, "| Frais | Plafond |", ""),
        (UnitKind.ROW, "| Repas | 20 € |", "| Frais | Plafond |"),
        (UnitKind.CODE, "code", ""),
    ]


def test_a_long_item_is_quoted_sentence_by_sentence_but_not_cut() -> None:
    found = chunks(f"## A\n\n- {words(200)}\n")
    assert len(found) == 1
    assert {unit.kind for unit in found[0].units} == {UnitKind.SENTENCE}


@pytest.mark.parametrize(
    "source",
    [f"- {words(MAX_ATOM_WORDS * 2)}", " ".join(["mot"] * MAX_ATOM_WORDS * 2)],
    ids=["item of many sentences", "sentence without end"],
)
def test_only_what_is_far_too_long_is_cut_inside(source: str) -> None:
    found = chunks(f"## A\n\n{source}")
    assert max(len(chunk.text.split()) for chunk in found) <= MAX_WORDS
    assert sum(len(chunk.text.split()) for chunk in found) >= MAX_ATOM_WORDS * 2


def test_the_title_is_not_part_of_the_heading_path() -> None:
    (chunk,) = chunks(f"---\ntitle: Congés\n---\n# congés\n\n## Durée\n\n{words(50)}")
    assert chunk.heading_path == ("Durée",)


def test_a_heading_with_nothing_below_it_is_still_found() -> None:
    found = chunks(f"# T\n\n## A\n\n{words(60)}\n\n## À venir\n")
    assert found[-1].text == "À venir"
    assert found[-1].heading_path in {(), ("À venir",)}


@pytest.mark.parametrize("source", ["# Titre\n", "# Titre\n\n## Sous-titre\n"])
def test_a_page_of_headings_alone_has_a_chunk(source: str) -> None:
    assert chunks(source)


def test_ids_survive_edits_elsewhere_and_change_with_the_text() -> None:
    sections = [f"## Section {n}\n\n{words(100, f'mot{n}x')}\n\n" for n in range(4)]
    before = {c.heading_path: c.chunk_id for c in chunks("".join(sections))}
    sections[1] = f"## Section 1\n\n{words(50, 'autre')}\n\n"
    after = {c.heading_path: c.chunk_id for c in chunks(f"{words(60)}\n\n" + "".join(sections))}
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {("Section 1",)}


def test_equal_texts_have_different_ids() -> None:
    found = chunks(f"## A\n\n{words(100)}\n\n## A\n\n{words(100)}")
    assert len({chunk.chunk_id for chunk in found}) == len(found) == 2


def test_the_id_depends_on_source_page_and_headings() -> None:
    first = chunk_page(page(f"## A\n\n{words(60)}"))[0]
    moved = chunk_page(page(f"## A\n\n{words(60)}", "autre.md"))[0]
    renamed = chunk_page(page(f"## B\n\n{words(60)}"))[0]
    assert len({first.chunk_id, moved.chunk_id, renamed.chunk_id}) == 3
    assert len(first.chunk_id) == 16


def test_the_version_names_both_steps() -> None:
    assert "parser" in pipeline_version()
    assert "chunker" in pipeline_version()

"""Bytes become text, or the reason why not."""

import pytest

from ingest.errors import PageParseError
from ingest.parsing.decoding import decode


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Congé payé", "cp1252"),
        ("L’été, 10 € – « fin »", "cp1252"),
        ("Die Kündigungsfrist beträgt für Führungskräfte üblicherweise drei Monate.", "cp1252"),
        ("Отпуск оплачивается в размере среднего заработка сотрудника.", "cp1251"),
        ("Congés 🙂", "utf-16"),
        ("Congés 🙂", "utf-32"),
    ],
)
def test_text_in_a_usual_encoding_is_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary"),
        (b"\x81\x8d\x8f\x90\x9d\xff" * 40, "encoding"),
        (bytes(range(128, 256)) * 4, "encoding"),
        (b"\xff\xfe\x00", "utf-16-le"),
        (b"\xef\xbb\xbf\xff", "utf-8"),
    ],
)
def test_what_is_no_text_is_an_error_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(PageParseError, match=reason):
        decode(content)


def test_a_wrong_declaration_is_ignored() -> None:
    assert decode('<meta charset="klingon"><p>Congé payé'.encode("cp1252"), html=True).endswith(
        "Congé payé"
    )

"""Splits a paragraph into sentences, in French and in English. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int]

# Abbreviations that something always follows: an example, an article, a reference.
_NEVER_LAST_TEXT = """
    art arts al alin chap cf ex bd boul c.-à-d i.e e.g viz approx dept tit préc cass soc civ crim
    décr circ délib op éd eds trad coll n.b nb p.s réf tél fig figs janv févr fév avr juil oct nov
    déc jan feb apr jun jul aug dec § vs incl excl
    """
_NEVER_LAST: Final = frozenset(_NEVER_LAST_TEXT.split())
# Titles, before a name; "me" or "gen" in lower case are no titles.
_TITLES_TEXT = """
    M MM Mme Mmes Mlle Mlles Me Mgr Dr Drs Pr Prof St Ste Sts Stes Mr Mrs Ms Messrs Gen Gov Sen Rep
    Capt Lt Col Hon Rev
    """
_TITLES: Final = frozenset(_TITLES_TEXT.split())
# Abbreviations when a number follows, words otherwise.
_BEFORE_NUMBER_TEXT = "no nos n num p pp pg vol sec sect par mar sept ref ext v t ch app arr"
_BEFORE_NUMBER: Final = frozenset(_BEFORE_NUMBER_TEXT.split())
# Abbreviations that may end a sentence: a capital after them decides.
_MAY_BE_LAST_TEXT = "etc env min max hr hrs h a.m p.m suiv ss ibid"
_MAY_BE_LAST: Final = frozenset(_MAY_BE_LAST_TEXT.split())
# Capitalised abbreviations inside names ("U.S. Government"): only a word that opens sentences
# decides.
_NAME_PART_TEXT = "inc ltd co corp llc bros jr sr u.s u.k u.n e.u d.c ph.d s.a"
_NAME_PART: Final = frozenset(_NAME_PART_TEXT.split())
_OPENERS_TEXT = """
    a an and as at but for he her his how i if in it its no on our she so that the their there these
    they this those to we what when where who why with you your all any each please
    au aux avec ce cela celle celui ces cet cette chaque comme dans de depuis des dès donc du elle
    elles en et il ils je l la le les leur leurs lorsque lors mais ne nos notre nous on or ou par
    pendant pour quand que qui sa sans selon ses si son sur tous tout toute un une vos votre vous
    """
_OPENERS: Final = frozenset(_OPENERS_TEXT.split())

_END: Final = re.compile(
    r"""(?:[.!?…]+|[。！？]+)(?:[ \u00a0\u202f]?[»”’"')\]]+|\*+)*(?=\s|$)|\n"""
)
_LAST_TOKEN: Final = re.compile(r"[^\s(\[«“\"'’/]*$")
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+")
_INITIAL: Final = re.compile(r"(?:[^\W\d_]\.-?)*[^\W\d_]")
_ENUMERATION: Final = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\.?[.)]?")
_LOOK_AHEAD: Final = 80
_FULL_LINE_CHARS: Final = 55
_BULLET: Final = re.compile(r"[-–—•*·▪◦‣>→]\s|\(?\d{1,3}[.)]\s")
_ENCLOSED: Final = re.compile(
    r"«[^«»]{1,400}»|“[^“”]{1,400}”|\([^()\n]{1,250}\)|\[[^\[\]\n]{1,250}\]"
)


def split_sentences(text: str) -> list[Span]:
    """Return the offsets of the sentences, in order, without surrounding white space.

    Every non-blank character is in exactly one sentence. A line break ends a sentence when the next
    line opens one (a capital, a digit, a bullet) and the line was not merely full.
    """
    enclosed = [match.span() for match in _ENCLOSED.finditer(text)]
    spans: list[Span] = []
    start = 0
    for end in _boundaries(text, enclosed):
        if _is_only_a_number(text[start:end]):
            continue
        _append(spans, text, start, end)
        start = end
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(stripped)))


def _is_only_a_number(piece: str) -> bool:
    return _ENUMERATION.fullmatch(piece.strip()) is not None


def _boundaries(text: str, enclosed: list[Span]) -> Iterator[int]:
    position = 0
    for match in _END.finditer(text):
        start, end = match.span()
        while position < len(enclosed) and enclosed[position][1] <= start:
            position += 1
        # Inside a quotation or a parenthesis nothing ends, unless it closes with the sentence.
        inside = position < len(enclosed) and enclosed[position][0] < start
        if (not inside or enclosed[position][1] <= end) and _ends_sentence(text, match):
            yield end


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match[0]
    following = text[match.end() : match.end() + _LOOK_AHEAD].lstrip()
    if mark == "\n":
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].rstrip()
        return _BULLET.match(following) is not None or (_opens(following) and _is_closed(line))
    if not following:
        return True
    if not _opens(following):
        return False
    return (
        mark[0] != "." or mark[:2] == ".." or not _is_abbreviation(text, match.start(), following)
    )


def _is_closed(line: str) -> bool:
    """Tell whether the break after a line is meant: a full line without an end was wrapped."""
    return len(line) < _FULL_LINE_CHARS or not line[-1].isalnum()


def _opens(following: str) -> bool:
    """Tell whether a sentence may start here: anything but a lower-case letter or punctuation."""
    first = following.lstrip("*_\"'«“‘([¿¡ \u00a0\u202f")[:1]
    return first != "" and not first.islower() and first not in ",;:.!?»”)…/"


def _is_abbreviation(text: str, dot: int, following: str) -> bool:
    token = _LAST_TOKEN.search(text, max(0, dot - 40), dot)
    word = token[0] if token else ""
    lowered = word.lower().rstrip(".")
    if lowered in _NEVER_LAST or word in _TITLES:
        return True
    if lowered in _BEFORE_NUMBER and following[:1].isdigit():
        return True
    if lowered in _MAY_BE_LAST:
        return not _opens_with_capital(following)
    if lowered in _NAME_PART or (_INITIAL.fullmatch(word) is not None and word[:1].isupper()):
        first = _FIRST_WORD.match(following)
        return first is None or first[0].lower() not in _OPENERS
    return False


def _opens_with_capital(following: str) -> bool:
    return following.lstrip("\"'«“(* \u00a0\u202f")[:1].isupper()

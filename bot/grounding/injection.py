"""Recognises text that speaks to the assistant instead of to the reader. Pure."""

from __future__ import annotations

import re

from ingest import fold

_ORDER = re.compile(
    r"\b(?:ignor\w*|disregard\w*|forget|oubli\w*)\b.{0,40}"
    r"\b(?:instructions?|consignes?|prompts?|the above|ce qui precede"
    r"|(?:all|previous|your|tes|vos|toutes?(?: les)?) (?:the )?(?:rules|regles))\b"
    r"|\bcompte de (?:tes|vos) (?:consignes|instructions|regles)\b"
    r"|\b(?:system|developer) (?:prompt|message|override)\b|\bprompt systeme\b|\bmessage systeme\b"
    r"|\b(?:you are|act as|tu es|vous etes) (?:now |desormais |maintenant )?(?:an? |une? )?"
    r"(?:ai|ia|llm|assistant|chatbot|language model|modele de langage|jailbroken|dan)\b"
    r"|\b(?:as an? |en tant qu')(?:ai|ia|llm|chatbot|language model|assistant ia)\b"
    r"|\b(?:assistant|chatbot|ai|ia|bot|model|modele)\s*[:,]\s*(?:answer|reply|say|respond|cite"
    r"|reponds?|repondez|dis|dites|ignore\w*)\b"
    r"|\b(?:answer|reply|respond|reponds?|repondez)\b.{0,30}\b(?:cite|citing|citez|en citant)\b"
    r"|\b(?:new|nouvelles?) (?:instructions?|consignes?)\b.{0,10}:"
    r"|</?evidence>|evidence_id|passage_id|\[/?inst\]|<\|im_(?:start|end)\|>|<<sys>>"
)


def addresses_the_assistant(text: str) -> bool:
    """Tell whether a text gives orders to whoever answers from it."""
    return bool(_ORDER.search(" ".join(fold(text).split())))

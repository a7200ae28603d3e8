"""Spells out what people shorten when they type in a hurry: "cb de jours", "hw many hrs", "lheure".

Encoders and answer types know the whole words only. The questions people see stay as asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.language import UNDETERMINED
from ingest import fold

_FRENCH = """
bcp=beaucoup bjr=bonjour bsr=bonsoir c=c'est cad=c'est-à-dire cb=combien cbien=combien cest=c'est
chuis=je_suis cmb=combien cmt=comment coment=comment comen=comment ct=c'était dc=donc dps=depuis
ds=dans dsl=désolé fo=faut g=j'ai jai=j'ai jdois=je_dois jfais=je_fais jme=je_me
jpeux=je_peux jprends=je_prends jsais=je_sais jsuis=je_suis jte=je_te jtravaille=je_travaille
jvais=je_vais jveux=je_veux kan=quand kand=quand ke=que kel=quel kelle=quelle kelles=quelles
kels=quels ki=qui kil=qu'il koi=quoi kon=qu'on lgtps=longtemps lgtmps=longtemps mdp=mot_de_passe
mm=même msg=message msgs=messages mtn=maintenant nb=nombre nvl=nouvelle nvx=nouveaux pb=problème
pbs=problèmes pck=parce_que pcq=parce_que pdt=pendant pk=pourquoi pkoi=pourquoi pq=pourquoi pr=pour
prkoi=pourquoi ptet=peut-être qd=quand qlq=quelques qlqs=quelques qq=quelques qqch=quelque_chose
qqn=quelqu'un qqs=quelques qqun=quelqu'un quil=qu'il quils=qu'ils quon=qu'on quun=qu'un quune=qu'une
rdv=rendez-vous reu=réunion slt=salut stp=s'il_te_plaît svp=s'il_vous_plaît tjrs=toujours
tjs=toujours tlm=tout_le_monde tps=temps vx=veux we=week-end ya=il_y_a
"""
_ENGLISH = """
abt=about appt=appointment approx=approximately b4=before bc=because btw=by_the_way
cant=can't cld=could cn=can cos=because coz=because cud=could cuz=because da=the dat=that
dept=department didnt=didn't dis=this doesnt=doesn't dont=don't dunno=don't_know frm=from
gonna=going_to gotta=have_to hafta=have_to havent=haven't hrs=hours hw=how im=I'm isnt=isn't
ive=I've lemme=let_me mgr=manager mins=minutes mnths=months mny=many msg=message mth=month
mths=months mtg=meeting n=and outta=out_of pls=please plz=please ppl=people r=are rly=really
shd=should shld=should shud=should sm=some teh=the thru=through thx=thanks tmr=tomorrow
tmrw=tomorrow u=you ur=your wanna=want_to wat=what wen=when wfh=work_from_home
wher=where whn=when wht=what wk=week wkend=weekend wknd=weekend wks=weeks wld=would wont=won't
wrk=work wrking=working wud=would wut=what ya=you yr=year yrs=years
w/=with w/o=without 2day=today 2moro=tomorrow 2nite=tonight
"""


def _table(entries: str) -> dict[str, str]:
    pairs = (entry.split("=", 1) for entry in entries.split())
    return {short: whole.replace("_", " ") for short, whole in pairs}


_TABLES = {"fr": _table(_FRENCH), "en": _table(_ENGLISH)}

_TELLING = 2

_WORD = re.compile(r"(?<![^\s(«\"'’])[^\s?!.,;:()«»\"'’]+(?![^\s?!.,;:)»\"])")
_ELIDED = re.compile(r"(l|d|j|qu)([aeiouyh].{3,})")


def spelled_out(text: str, language: str, vocabulary: Collection[str]) -> str:
    """Return a question with its usual abbreviations, and lost apostrophes, written in full.

    A word with a capital is an acronym or a name and stays: "CB" may be a bank card.

    Args:
        text: The question.
        language: "fr" or "en"; of a text in neither, the abbreviations tell.
        vocabulary: Folded words of the index: "lheure" is "l'heure" where only "heure" is one.
    """
    language = language if language in _TABLES else _language_of_abbreviations(text)
    table = _TABLES.get(language)
    if table is None:
        return text

    def whole(match: re.Match[str]) -> str:
        word = match[0]
        if word != word.lower():
            return word
        folded = fold(word)
        if folded in table:
            return table[folded]
        if language == "fr" and folded not in vocabulary:
            elided = _ELIDED.fullmatch(folded)
            if elided and elided[2] in vocabulary:
                return f"{word[: len(elided[1])]}'{word[len(elided[1]) :]}"
        return word

    return _WORD.sub(whole, text)


def _language_of_abbreviations(text: str) -> str:
    """Return the language that two abbreviations more than in the other one speak for."""
    words = [fold(word) for word in _WORD.findall(text)]
    french, english = (sum(word in table for word in words) for table in _TABLES.values())
    if abs(french - english) < _TELLING:
        return UNDETERMINED
    return "fr" if french > english else "en"

"""Words that a question holds but that say nothing of its subject. Used on the query side only.

Written without accents: they are compared with folded words. `sans`, `non`, `no` and `without` stay
content ("congé sans solde"), like words that are one in the other language ("car", "été").
"""

from __future__ import annotations

_FRENCH = """
a ai aie aient ait alors apres as au aucun aucune aujourdhui aura aurai aurais aurait auront aussi
autre autres aux avais avait avant avec avez avoir avons ayant beaucoup bien c ca ce ceci cela
celle celles celui cependant certain certaine certaines certains ces cet cette ceux chaque chez ci
combien comme comment concernant concerne d dans de des desormais devez devoir devons devrais
devrait deja depuis dis dit dites doit dois doivent donc dont du durant elle elles en encore entre
es est et etaient etais etait etant etes etions etre eu eut existe fais faire fait faites
faudrait faut font g ici il ils j je jusqu jusque juste l la laquelle le lequel les lesquelles
lesquels leur leurs lorsque lui m ma mais me meme memes mes mettre mien moi mon n ne ni nos notre
nous on ont or ou oui par parce parle parler part pas pendant permet peu peut peuvent peux plus
plutot pour pourquoi pourrai pourrais pourrait pouvez pouvoir pouvons pres prevoit prevu prevue
puis puisque puisse qu quand quant que quel quelle quelles quelque quelques quels qui quoi s sa
savez savoir se selon sera serai serais serait seront ses si sinon soient sois soit sommes son sont
souhaite souhaiterais sous suis suivant sur sais sait t ta tandis te tel telle telles tels tes toi
ton tous tout toute toutes tres trop tu un une va vais vas vers veut veux via voici voila vont vos
votre voudrais voulez vouloir vous vraiment vu y
"""

_FRENCH_CHAT = """
aidez allo bjr bonjour bonsoir coucou cordialement dsl excusez hello hey indiquer merci
mrc pardon please plz question salut salutations slt stp svp sil plait plaise connaissez connaitre
hein bref ok okay quelqu quelquun
"""

_ENGLISH = """
a about after again all also am among an and any anyone anything are as at be because been before
being between both but by can cannot cant could couldnt d did didnt do does doesnt doing done dont
each either else etc ever every for from get gets getting give given go goes going got had has
hasnt have havent having he her here hers him his how however i id if ill im in into is isnt it its
itself ive just let lets like ll look looking m make many may maybe me might mine more most much
must my myself need needs neither nor not of off on once one only or other others our ours out over
own per please quite rather re really s same shall she should so some somebody someone something
such sure t tell than that thats the their theirs them themselves then there theres these they
theyre thing things this those through thus to too toward towards under until up upon us use used
ve very want wants was wasnt way we well were weve what whats whatever when where wheres whether
which while who whom whose why will wish with within wont would wouldnt yes yet you youre your
yours
"""

_ENGLISH_CHAT = """
anybody cheers hello help hey hi hiya kindly know plz pls question regards sorry thank thanks thx
wondering explain wanna gonna
"""

_WEB = "http https www"

STOP_WORDS = frozenset(" ".join((_FRENCH, _FRENCH_CHAT, _ENGLISH, _ENGLISH_CHAT, _WEB)).split())
"""Folded French and English words left out of queries."""

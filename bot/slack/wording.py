"""The bot's own words, in French and in English, and the choice between them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal

from bot.language import french_or_english

Language = Literal["fr", "en"]
DEFAULT_LANGUAGE: Language = "fr"


@dataclass(frozen=True, slots=True)
class Words:
    """Everything the bot says by itself in one language; `{…}` are filled in by `str.format`."""

    sources: str
    updated: str
    outdated: str
    quoted: str
    written: str
    translated: str
    degraded: str
    disagreement: str
    model_down: str
    model_back: str
    budget_spent: str
    more_left_out: str
    try_next: str
    help: str
    outage: str
    failure: str
    moved_here: str
    hits: str
    no_hits: str
    next_hits: str
    command_help: str
    searching: str
    share: str
    shared: str
    shared_search: str
    share_gone: str
    share_not_yours: str
    share_changed: str
    share_failed: str
    useful: str
    useful_label: str
    not_useful: str
    not_useful_label: str
    feedback_thanks: str
    feedback_lost: str
    feedback_title: str
    feedback_reasons: str
    reason_wrong: str
    reason_outdated: str
    reason_incomplete: str
    reason_off_topic: str
    feedback_comment: str
    send: str
    cancel: str
    admin_help: str
    admins_only: str
    unknown_source: str
    sync_running: str
    sync_pages: str
    sync_embeddings: str
    sync_did: str
    sync_would: str
    sync_busy: str
    sync_failed: str
    sync_interrupted: str
    removals_blocked: str
    and_more: str
    confirm_removals: str
    confirm_title: str
    confirm_text: str
    confirm_yes: str
    state_not_built: str
    state_index: str
    state_spending: str
    state_source: str
    state_next: str
    state_paused: str
    state_no_schedule: str
    stale: str
    table: str
    close_pages: str
    close_pages_intro: str
    close_pages_gone: str
    ask_human: str
    ask_human_confirm: str
    human_sent: str
    human_sent_already: str
    human_failed: str
    human_asks: str
    human_see: str
    human_how: str
    human_answer: str
    human_answer_label: str
    human_answered: str
    human_noted: str
    wider_offer: str
    wider_show: str
    prompts_title: str
    prompts: tuple[tuple[str, str], ...]
    at_work: str
    stopped: str
    muted: str
    unmuted: str
    not_for_guests: str
    not_in_shared_channels: str
    about_title: str
    about_message: str
    about_nothing: str
    share_in_thread: str
    shared_about: str
    share_done: str
    home_title: str
    home_intro: str
    home_ask: str
    home_ask_hint: str
    home_ask_button: str
    home_search: str
    home_search_hint: str
    home_search_button: str
    home_empty: str
    home_answer_title: str
    home_search_title: str
    home_question: str
    close_window: str
    home_recent: str
    home_again: str
    home_answered: str
    home_unanswered: str
    home_favourites: str
    home_favourite: str
    home_freshness: str
    home_last_sync: str
    home_source: str
    home_state_unknown: str
    home_admin: str
    home_sync_all: str
    home_sync_source: str
    home_dry_run: str
    home_pause: str
    home_resume: str
    home_skipped: str
    home_gaps: str
    home_gap: str
    home_no_gaps: str
    schedule_set: str
    schedule_chosen_here: str
    schedule_wrong: str
    schedule_failed: str
    schedule_help: str
    home_sync_started: str
    explain_help: str
    explain_usage: str
    explain_not_found: str
    explain_words_gone: str
    explain_elsewhere: str
    explain_title: str
    explain_then: str
    explain_now: str
    explain_answer: str
    explain_empty_question: str
    explain_no_passage: str
    explain_not_grounded: str
    explain_unsupported: str
    explain_read_as: str
    explain_words: str
    explain_unknown: str
    explain_no_words: str
    explain_passages: str
    explain_passage: str
    explain_terms: str
    explain_draft: str
    explain_passed: str
    explain_refused: str
    explain_nothing: str
    explain_support: str
    explain_signals: str
    explain_footer: str
    corrections_help: str
    stale_found: str
    home_stale: str
    stale_none: str
    stale_listed: str
    stale_public: str
    stale_private: str
    stale_hidden: str
    correction_post: str
    correction_dismiss: str
    correction_open: str
    correction_note: str
    correction_private: str
    correction_asked: str
    correction_posted: str
    correction_dismissed: str
    correction_decided: str
    correction_failed: str
    uploads_help: str
    upload_admins_only: str
    upload_nowhere: str
    upload_running: str
    upload_one: str
    upload_many: str
    upload_later: str
    upload_refused: str
    upload_unreachable: str
    upload_not_kept: str
    uploads_none: str
    uploads_listed: str
    upload_remove: str
    upload_remove_text: str
    upload_removed: str
    upload_removed_later: str
    upload_gone: str
    channel_help: str
    channel_title: str
    channel_sources: str
    channel_all_sources: str
    channel_language: str
    channel_language_reader: str
    channel_language_fr: str
    channel_language_en: str
    channel_answers: str
    channel_answers_here: str
    channel_answers_privately: str
    channel_who: str
    channel_who_house: str
    channel_who_everyone: str
    channel_who_members: str
    channel_who_admins: str
    channel_saved: str
    channel_failed: str
    channel_not_here: str
    channel_admins_only: str
    channel_moved: str
    home_gaps_pending: str
    never: str
    moment: str
    date: str
    months: tuple[str, ...]
    zone: tzinfo = UTC
    """Of whoever reads; moments are told in it. The day of a page is its own, wherever one is."""

    def format_date(self, moment: datetime) -> str:
        """Return the day of a moment, in words."""
        return self.date.format(
            day=moment.day, month=self.months[moment.month - 1], year=moment.year
        )

    def format_moment(self, moment: datetime) -> str:
        """Return a moment in words, in the zone of whoever reads."""
        local = moment.astimezone(self.zone)
        return self.moment.format(date=self.format_date(local), time=f"{local:%H:%M}")


FRENCH = Words(
    sources="Sources",
    updated="mis à jour le {date}",
    outdated="page signalée comme ancienne",
    quoted="Extraits cités mot pour mot du guide.",
    translated="Traduction de {model} : {text}",
    written="Rédigé par {model} d'après ces extraits : vérifiez les sources.",
    degraded="Recherche réduite en ce moment : la réponse peut être moins complète que d'habitude.",
    model_down="Le modèle de langage ne répond plus ({reason}). En attendant, les réponses sont des"
    " extraits cités du guide ; je réessaie tout seul.",
    model_back="Le modèle de langage répond de nouveau, après {minutes} min.",
    budget_spent="Le budget du jour du modèle de langage ({tokens} jetons) est épuisé : jusqu'à"
    " demain, les réponses sont des extraits cités du guide.",
    disagreement="Ces pages ne donnent pas le même chiffre : la plus récente vient en premier.",
    more_left_out="La suite est dans les pages citées.",
    try_next="Le guide ne répond pas clairement à cette question. Essayez avec d'autres mots,"
    " ou demandez à la personne en charge du sujet.",
    help="Bonjour ! Posez-moi une question sur la vie de l'entreprise, par exemple"
    " « combien de jours de télétravail par semaine ? ». Je réponds avec les passages du guide,"
    " ou je dis que je ne sais pas.",
    outage="Je ne peux pas consulter le guide en ce moment : c'est une panne de mon côté, pas une"
    " réponse. Reposez votre question un peu plus tard.",
    failure="Je n'ai pas réussi à traiter cette question : c'est une erreur de mon côté."
    " Reposez-la, ou demandez à un humain si c'est urgent.",
    moved_here="Je n'ai pas pu répondre là où vous avez posé votre question, alors voici.",
    hits="Passages du guide pour « {terms} »",
    next_hits="Passages suivants",
    no_hits="Aucun passage du guide pour « {terms} ». Essayez avec d'autres mots.",
    command_help="{command} ask suivi d'une question : une réponse que vous serez seul à voir."
    "\n{command} suivi de mots à chercher, par exemple {command} congés payés : les passages du"
    " guide, pour vous seul."
    "\nPour une réponse visible de tous, mentionnez-moi dans un canal.",
    searching="Je cherche dans le guide…",
    share="Partager dans le canal",
    shared="a demandé : « {question} »",
    shared_search="a cherché dans le guide.",
    share_gone="C'est déjà partagé, ou trop ancien. Refaites votre demande.",
    share_not_yours="Seule la personne qui a demandé cela peut le partager.",
    share_changed="Le guide a changé depuis, ou tout le monde ne peut pas lire ce qui serait"
    " partagé : refaites votre demande.",
    share_failed="Je n'ai pas pu partager cela : c'est une erreur de mon côté. Réessayez dans un"
    " instant.",
    useful="Utile",
    useful_label="Cette réponse est utile",
    not_useful="Pas utile",
    not_useful_label="Cette réponse n'est pas utile",
    feedback_thanks="Merci, c'est noté.",
    feedback_lost="Je n'ai pas pu noter votre avis : c'est une erreur de mon côté. Réessayez dans"
    " un instant.",
    feedback_title="Votre avis",
    feedback_reasons="Qu'est-ce qui ne va pas ?",
    reason_wrong="C'est faux",
    reason_outdated="Ce n'est plus à jour",
    reason_incomplete="Il manque quelque chose",
    reason_off_topic="Ce n'était pas ma question",
    feedback_comment="Commentaire",
    send="Envoyer",
    cancel="Annuler",
    admin_help="{command} reindex [source] [--dry-run] : mettre le guide à jour, ou voir ce qui"
    " changerait.\n{command} status : l'état du guide et de ses sources.",
    admins_only="Cette commande est réservée aux administrateurs.",
    unknown_source="Je ne connais pas cette source. Les sources sont : {names}.",
    sync_running="Mise à jour du guide en cours…",
    sync_pages="{source} : {done} pages lues sur {total}",
    sync_embeddings="{source} : {done} passages encodés sur {total}",
    sync_did="{source} : {added} pages ajoutées, {updated} modifiées, {removed} retirées,"
    " {unchanged} inchangées, {skipped} laissées de côté, en {seconds} s.",
    sync_would="{source}, essai sans rien changer : {added} pages seraient ajoutées, {updated}"
    " modifiées, {removed} retirées, {unchanged} inchangées, {skipped} laissées de côté.",
    sync_busy="Une mise à jour est déjà en cours. Réessayez quand elle sera finie.",
    sync_failed="La mise à jour a échoué : le journal du serveur dit pourquoi, et la commande"
    " manuel doctor aide à trouver la cause.",
    sync_interrupted="La mise à jour a été interrompue ; la prochaine la terminera.",
    removals_blocked="{count} pages ont disparu de cette source : c'est beaucoup, alors je n'ai"
    " rien retiré. Pages concernées :",
    and_more="… et {count} de plus",
    confirm_removals="Retirer {count} pages",
    confirm_title="Retirer ces pages ?",
    confirm_text="Elles ne serviront plus à répondre. Elles reviendront si la source les redonne.",
    confirm_yes="Retirer",
    state_not_built="Le guide n'a pas encore été lu.",
    state_spending="Modèle {model}, aujourd'hui : {tokens} jetons, {amount}.",
    state_index="Guide : {pages} pages, {chunks} passages.",
    state_source="{source} : {pages} pages ; dernière lecture : {last} ; dernière lecture"
    " complète : {complete}.",
    state_next="Prochaine mise à jour : {moment}.",
    state_paused="Les mises à jour planifiées sont en pause.",
    state_no_schedule="Aucune mise à jour n'est planifiée.",
    stale="pas modifiée depuis longtemps : vérifiez qu'elle est à jour",
    table="Tableau",
    close_pages="Pages sur ce sujet",
    close_pages_intro="Je ne sais pas répondre, mais ces pages abordent le sujet. Ce sont des"
    " pistes, pas des sources :",
    close_pages_gone="Ces pages ont changé depuis, ou tout le monde ne peut pas les lire."
    " Reposez la question.",
    ask_human="Demander à quelqu'un",
    ask_human_confirm="Votre question et votre nom seront transmis aux responsables du guide.",
    human_sent="Votre question est transmise aux responsables du guide. Je vous écrirai en message"
    " direct dès que quelqu'un aura répondu.",
    human_sent_already="Cette question a déjà été transmise aux responsables du guide.",
    human_failed="Je n'ai pas pu transmettre votre question : c'est une erreur de mon côté."
    " Demandez directement à la personne en charge du sujet.",
    human_asks="demande ce que le guide ne dit pas :",
    human_see="Voir la conversation",
    human_how="Répondez avec le bouton ou dans ce fil : votre réponse sera envoyée en message"
    " direct à qui a posé la question, avec votre nom.",
    human_answer="Répondre",
    human_answer_label="Votre réponse",
    human_answered="a répondu à votre question :",
    human_noted="a répondu, et sa réponse est envoyée :",
    wider_offer="Des pages réservées à certaines personnes, dont vous, en disent plus. Le fil ne"
    " les montre pas.",
    wider_show="Voir, pour moi seul",
    prompts_title="Que voulez-vous savoir ?",
    prompts=(
        ("Congés", "Combien de jours de congés ai-je, et comment les poser ?"),
        ("Notes de frais", "Quels frais sont remboursés, et comment ?"),
        ("Télétravail", "Combien de jours de télétravail par semaine ?"),
        ("Je viens d'arriver", "Je viens d'arriver : que dois-je lire en premier ?"),
    ),
    at_work="cherche dans le guide…",
    stopped="Arrêté, comme demandé : la réponse n'est pas complète.",
    muted="Je me tais dans ce fil, sauf si on m'y mentionne. Écrivez « unmute » pour que je"
    " reprenne.",
    unmuted="Je réponds de nouveau dans ce fil.",
    not_for_guests="Désolé, je ne réponds qu'aux membres de cet espace de travail. Demandez à la"
    " personne qui vous y a invité.",
    not_in_shared_channels="Désolé, je ne réponds pas dans une conversation partagée avec une autre"
    " entreprise. Si vous êtes membre de cet espace de travail, écrivez-moi en message direct.",
    about_title="Demander au guide",
    about_message="Message : « {message} »",
    about_nothing="Ce message ne contient pas de texte à chercher dans le guide.",
    share_in_thread="Partager dans le fil",
    shared_about="a demandé au guide, au sujet de ce message :",
    share_done="La réponse est dans le fil du message.",
    home_title="Le guide de l'entreprise",
    home_intro="Vous seul verrez les réponses demandées ici.",
    home_ask="Poser une question",
    home_ask_hint="Combien de jours de télétravail par semaine ?",
    home_ask_button="Demander",
    home_search="Chercher des mots",
    home_search_hint="congés payés",
    home_search_button="Chercher",
    home_empty="Écrivez d'abord votre question, ou les mots à chercher, dans la case au-dessus du"
    " bouton.",
    home_answer_title="Réponse",
    home_search_title="Recherche",
    home_question="Question : « {question} »",
    close_window="Fermer",
    home_recent="Mes dernières questions",
    home_again="Reposer",
    home_answered="réponse trouvée",
    home_unanswered="sans réponse",
    home_favourites="Les pages les plus utiles du mois",
    home_favourite="jugée utile {useful} fois, citée {cited} fois",
    home_freshness="Fraîcheur du guide",
    home_last_sync="Dernière lecture complète : {moment}. {pages} pages.",
    home_source="{source} : {pages} pages, {moment}",
    home_state_unknown="L'état du guide n'est pas connu en ce moment.",
    home_admin="Pour les administrateurs",
    home_sync_all="Tout mettre à jour",
    home_sync_source="Mettre à jour",
    home_dry_run="Essai sans rien changer",
    home_pause="Suspendre la planification",
    home_resume="Reprendre la planification",
    home_skipped="Pages non lues ({count}) :",
    home_gaps="Questions sans réponse des {days} derniers jours",
    home_gap="{question} ({count})",
    home_no_gaps="Aucune.",
    schedule_set="Les mises à jour sont planifiées ainsi : {cron} (heure de {timezone}).",
    schedule_chosen_here="Cet horaire a été choisi dans Slack et l'emporte sur la configuration ;"
    " {command} schedule default y revient.",
    schedule_wrong="Je n'ai pas compris cet horaire, ou il n'arrive jamais. Il s'écrit en cinq"
    " champs, comme dans crontab : minute, heure, jour du mois, mois, jour de la semaine. Par"
    " exemple, pour 6 h du lundi au vendredi : {example}",
    schedule_failed="Je n'ai pas pu changer la planification : c'est une erreur de mon côté."
    " Réessayez dans un instant.",
    schedule_help="{command} schedule : la planification des mises à jour. {command} schedule"
    " suivi de {example} la change ; pause la suspend, resume la reprend.",
    home_sync_started="Mise à jour lancée : le résultat arrivera ici et en message direct.",
    explain_help="{command} explain suivi du lien d'une réponse : ce qui a été trouvé, et pourquoi"
    " elle a été donnée ou non.",
    explain_usage="Donnez le lien d'une de mes réponses : le menu d'un message permet de le"
    " copier.",
    explain_not_found="Je ne retrouve pas la question derrière ce lien : il ne mène pas à une de"
    " mes réponses, ou elle est trop ancienne.",
    explain_words_gone="Les mots de cette question ne sont plus conservés : je ne peux pas"
    " l'expliquer.",
    explain_elsewhere="Cette question a été posée dans une conversation que vous ne pouvez pas"
    " lire.",
    explain_title="Explication d'une réponse",
    explain_then="Le {moment} : {outcome}, confiance {confidence}.",
    explain_now="Maintenant : {outcome}, confiance {confidence}.",
    explain_answer="une réponse",
    explain_empty_question="La question n'a aucun mot à chercher.",
    explain_no_passage="Aucun passage n'a été trouvé.",
    explain_not_grounded="Les passages ne disent rien de ce qui était proposé.",
    explain_unsupported="Ce qui a été trouvé ne répond pas assez sûrement à la question.",
    explain_read_as="Comprise avec le fil : « {text} »",
    explain_words="Mots cherchés, avec leur rareté",
    explain_unknown="inconnu du guide",
    explain_no_words="aucun",
    explain_passages="Passages trouvés, le meilleur d'abord",
    explain_passage="rang par mots : {keyword}, rang par sens : {vector}, proximité : {cosine},"
    " premier tri : {first}, second tri : {second}",
    explain_terms="apport des mots : {terms}",
    explain_draft="Proposition : {generator}",
    explain_passed="admis : {sentence}",
    explain_refused="refusé : {sentence} ({reason})",
    explain_nothing="Rien n'a été proposé.",
    explain_support="Contrôle final : {probability}, seuil {threshold}.",
    explain_signals="Mesures, valeur × poids",
    explain_footer="Calculé à l'instant, sur le guide d'aujourd'hui et sur les pages que tout le"
    " monde peut lire dans cette conversation.",
    corrections_help="{command} corrections : les réponses dont le passage cité a changé, et de"
    " quoi le dire.",
    stale_found="Des réponses récentes citent un passage qui a changé ou disparu. Les admins du"
    " guide les trouvent avec /handbook corrections.",
    home_stale="Réponses qui citent un passage changé ou disparu : {count}. Pour les voir :"
    " /handbook corrections",
    stale_none="Aucune réponse récente ne cite un passage qui a changé.",
    stale_listed="Ces réponses citent un passage qui a changé ou disparu depuis :",
    stale_public="réponse dans un fil",
    stale_private="réponse privée",
    stale_hidden="Page supprimée, ou réservée à d'autres",
    correction_post="Signaler le changement",
    correction_dismiss="Laisser",
    correction_open="Voir",
    correction_note="La page « {title} » a changé depuis : le passage cité ici n'y est plus."
    " Reposez la question pour avoir la réponse à jour.",
    correction_private="La page « {title} » a changé depuis une réponse que je vous ai donnée en"
    " privé : le passage cité n'y est plus. Reposez la question pour avoir la réponse à jour.",
    correction_asked="Vous aviez demandé : {question}",
    correction_posted="C'est signalé.",
    correction_dismissed="Je n'en dirai rien.",
    correction_decided="Quelqu'un s'en est déjà occupé.",
    correction_failed="Slack n'a pas pris le message : réessayez dans un moment.",
    uploads_help="{command} uploads : les pages envoyées en message direct, et leur retrait.",
    upload_admins_only="Merci ! Seules les personnes qui administrent le guide y ajoutent des"
    " fichiers : transmettez-leur celui-ci, je ne l'ai pas gardé.",
    upload_nowhere="Aucune source ne reçoit de fichiers : ajoutez-en une de type upload dans"
    " handbook.toml.",
    upload_running="Je lis {names}…",
    upload_one="1 page indexée : {names}",
    upload_many="{count} pages indexées : {names}",
    upload_later="Gardé : {names}. L'index n'a pas pu être mis à jour ; la prochaine mise à jour le"
    " fera.",
    upload_refused="Non retenu :",
    upload_unreachable="Slack ne l'a pas transmis, malgré plusieurs essais",
    upload_not_kept="le serveur n'a pas pu l'enregistrer ; son journal dit pourquoi",
    uploads_none="Aucune page n'a été envoyée.",
    uploads_listed="Pages envoyées : {count}",
    upload_remove="Retirer",
    upload_remove_text="« {name} » ne servira plus aux réponses.",
    upload_removed="Page retirée : {name}",
    upload_removed_later="Page retirée : {name}. L'index suivra à la prochaine mise à jour.",
    upload_gone="Cette page n'est plus là : {name}",
    channel_help="{command} channel : les réglages du canal où vous êtes.",
    channel_title="Réglages du canal",
    channel_sources="Sources à consulter",
    channel_all_sources="Toutes les sources",
    channel_language="Langue de mes phrases",
    channel_language_reader="Celle de chaque personne",
    channel_language_fr="Français",
    channel_language_en="Anglais",
    channel_answers="Où répondre aux mentions",
    channel_answers_here="Dans le fil, visible de tout le canal",
    channel_answers_privately="En message direct à qui demande",
    channel_who="Qui peut demander",
    channel_who_house="Comme partout ailleurs",
    channel_who_everyone="Tout le canal, invités compris",
    channel_who_members="Les membres de l'espace de travail",
    channel_who_admins="Les administrateurs",
    channel_saved="Les réglages de ce canal sont enregistrés.",
    channel_failed="Je n'ai pas pu régler ce canal : c'est une erreur de mon côté. Réessayez dans"
    " un instant.",
    channel_not_here="Les réglages sont ceux d'un canal : tapez cette commande dans celui à"
    " régler.",
    channel_admins_only="Dans ce canal, je ne réponds qu'aux administrateurs.",
    channel_moved="Dans le canal où vous avez posé votre question, je réponds en privé.",
    home_gaps_pending="Je les regroupe : elles arrivent ici dans un instant.",
    never="jamais",
    moment="{date} à {time}",
    date="{day} {month} {year}",
    months=(
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ),
)

ENGLISH = Words(
    sources="Sources",
    updated="updated {date}",
    outdated="page marked as outdated",
    quoted="Quoted word for word from the handbook.",
    translated="Translated by {model}: {text}",
    written="Written by {model} from these passages: please check the sources.",
    degraded="Search is reduced right now: this answer may be less complete than usual.",
    model_down="The language model no longer answers ({reason}). Until it does, answers are quotes"
    " from the handbook; I keep trying.",
    model_back="The language model answers again, after {minutes} min.",
    budget_spent="The language model's budget of the day ({tokens} tokens) is spent: until tomorrow"
    " answers are quotes from the handbook.",
    disagreement="These pages do not give the same figure: the newest comes first.",
    more_left_out="There is more in the pages cited.",
    try_next="The handbook does not clearly answer this. Try other words, or ask whoever looks"
    " after the subject.",
    help="Hello! Ask me a question about how the company works, such as “how many days can I work"
    " from home?”. I answer with passages of the handbook, or say that I do not know.",
    outage="I cannot look into the handbook right now: this is an outage on my side, not an"
    " answer. Please ask again a little later.",
    failure="I could not handle this question: that is an error on my side. Please ask again, or"
    " ask a human if it is urgent.",
    moved_here="I could not reply where you asked, so here it is.",
    hits="Passages of the handbook for “{terms}”",
    next_hits="Next passages",
    no_hits="No passage of the handbook for “{terms}”. Try other words.",
    command_help="{command} ask and a question: an answer that only you will see."
    "\n{command} and words to look for, such as {command} paid leave: passages of the handbook,"
    " for you alone."
    "\nFor an answer that everybody sees, mention me in a channel.",
    searching="Looking into the handbook…",
    share="Share in the channel",
    shared="asked: “{question}”",
    shared_search="searched the handbook.",
    share_gone="This was shared already, or it is too old. Please ask again.",
    share_not_yours="Only the person who asked for this can share it.",
    share_changed="The handbook has changed since, or not everybody may read what would be shared:"
    " please ask again.",
    share_failed="I could not share this: that is an error on my side. Please try again in a"
    " moment.",
    useful="Useful",
    useful_label="This answer is useful",
    not_useful="Not useful",
    not_useful_label="This answer is not useful",
    feedback_thanks="Thank you, I have noted that.",
    feedback_lost="I could not note your feedback: that is an error on my side. Please try again in"
    " a moment.",
    feedback_title="Your feedback",
    feedback_reasons="What is wrong?",
    reason_wrong="It is wrong",
    reason_outdated="It is outdated",
    reason_incomplete="Something is missing",
    reason_off_topic="Not about my question",
    feedback_comment="Comment",
    send="Send",
    cancel="Cancel",
    admin_help="{command} reindex [source] [--dry-run]: bring the handbook up to date, or see what"
    " would change.\n{command} status: the state of the handbook and its sources.",
    admins_only="Only admins can do that.",
    unknown_source="I know no such source. The sources are: {names}.",
    sync_running="Bringing the handbook up to date…",
    sync_pages="{source}: {done} of {total} pages read",
    sync_embeddings="{source}: {done} of {total} passages encoded",
    sync_did="{source}: {added} pages added, {updated} updated, {removed} removed, {unchanged}"
    " unchanged, {skipped} skipped, in {seconds} s.",
    sync_would="{source}, dry run, nothing changed: {added} pages would be added, {updated}"
    " updated, {removed} removed, {unchanged} unchanged, {skipped} skipped.",
    sync_busy="A sync is running already. Try again when it has ended.",
    sync_failed="The sync failed: the server's log says why, and the command manuel doctor helps to"
    " find the cause.",
    sync_interrupted="The sync was interrupted; the next one will complete it.",
    removals_blocked="{count} pages are gone from this source: that is a lot, so I removed nothing."
    " These are they:",
    and_more="… and {count} more",
    confirm_removals="Remove {count} pages",
    confirm_title="Remove these pages?",
    confirm_text="They will no longer be used to answer. They come back if the source has them"
    " again.",
    confirm_yes="Remove",
    state_not_built="The handbook has not been read yet.",
    state_spending="Model {model}, today: {tokens} tokens, {amount}.",
    state_index="Handbook: {pages} pages, {chunks} passages.",
    state_source="{source}: {pages} pages; last read: {last}; last read completely: {complete}.",
    state_next="Next sync: {moment}.",
    state_paused="Scheduled syncs are paused.",
    state_no_schedule="No sync is scheduled.",
    stale="not changed for a long time: check that it is up to date",
    table="Table",
    close_pages="Pages on this subject",
    close_pages_intro="I do not know the answer, but these pages touch on the subject. They are"
    " places to look, not sources:",
    close_pages_gone="These pages have changed since, or not everybody may read them. Please ask"
    " again.",
    ask_human="Ask a human",
    ask_human_confirm="Your question and your name will be passed on to those in charge of the"
    " handbook.",
    human_sent="Your question is passed on to those in charge of the handbook. I will write you a"
    " direct message as soon as somebody has answered.",
    human_sent_already="This question has been passed on to those in charge of the handbook"
    " already.",
    human_failed="I could not pass on your question: that is an error on my side. Please ask"
    " whoever looks after the subject directly.",
    human_asks="asks what the handbook does not say:",
    human_see="See the conversation",
    human_how="Answer with the button or in this thread: your answer will be sent in a direct"
    " message to whoever asked, with your name.",
    human_answer="Answer",
    human_answer_label="Your answer",
    human_answered="answered your question:",
    human_noted="answered, and the answer is sent:",
    wider_offer="Pages limited to some people, you among them, say more. The thread does not show"
    " them.",
    wider_show="Show it to me alone",
    prompts_title="What would you like to know?",
    prompts=(
        ("Leave", "How many days of leave do I have, and how do I take them?"),
        ("Expenses", "Which expenses are reimbursed, and how?"),
        ("Remote work", "How many days of remote work are there per week?"),
        ("I am new here", "I have just joined: what should I read first?"),
    ),
    at_work="is looking into the handbook…",
    stopped="Stopped, as you asked: the answer is not complete.",
    muted="I will be quiet in this thread, unless somebody mentions me. Write “unmute” and I will"
    " go on.",
    unmuted="I answer in this thread again.",
    not_for_guests="Sorry, I answer members of this workspace only. Please ask the person who"
    " invited you.",
    not_in_shared_channels="Sorry, I do not answer in conversations shared with another company. If"
    " you are a member of this workspace, write me a direct message.",
    about_title="Ask the handbook",
    about_message="Message: “{message}”",
    about_nothing="This message has no text to look up in the handbook.",
    share_in_thread="Share in the thread",
    shared_about="asked the handbook about this message:",
    share_done="The answer is in the thread of the message.",
    home_title="The company handbook",
    home_intro="Only you will see the answers to what you ask here.",
    home_ask="Ask a question",
    home_ask_hint="How many days can I work from home?",
    home_ask_button="Ask",
    home_search="Look for words",
    home_search_hint="paid leave",
    home_search_button="Search",
    home_empty="Please write your question, or the words to look for, in the box above the button"
    " first.",
    home_answer_title="Answer",
    home_search_title="Search",
    home_question="Question: “{question}”",
    close_window="Close",
    home_recent="My latest questions",
    home_again="Ask again",
    home_answered="answered",
    home_unanswered="no answer",
    home_favourites="The most useful pages of the month",
    home_favourite="found useful {useful}×, cited {cited}×",
    home_freshness="How fresh the handbook is",
    home_last_sync="Last read completely: {moment}. {pages} pages.",
    home_source="{source}: {pages} pages, {moment}",
    home_state_unknown="The state of the handbook is not known right now.",
    home_admin="For admins",
    home_sync_all="Sync everything",
    home_sync_source="Sync",
    home_dry_run="Dry run",
    home_pause="Pause the schedule",
    home_resume="Resume the schedule",
    home_skipped="Pages that were not read ({count}):",
    home_gaps="Questions without an answer in the last {days} days",
    home_gap="{question} ({count})",
    home_no_gaps="None.",
    schedule_set="Syncs are scheduled like this: {cron} (time of {timezone}).",
    schedule_chosen_here="This schedule was chosen in Slack and overrides the configuration;"
    " {command} schedule default goes back to it.",
    schedule_wrong="I could not read this schedule, or it never comes. It has five fields, as in"
    " crontab: minute, hour, day of the month, month, day of the week. For example, for 6:00 from"
    " Monday to Friday: {example}",
    schedule_failed="I could not change the schedule: that is an error on my side. Please try"
    " again in a moment.",
    schedule_help="{command} schedule: when syncs run. {command} schedule and {example} changes"
    " that; pause suspends it, resume takes it up again.",
    home_sync_started="The sync has begun: its result will come here and in a direct message.",
    explain_help="{command} explain and the link to an answer: what was found, and why it was"
    " given or not.",
    explain_usage="Give the link to one of my answers: the menu of a message lets you copy it.",
    explain_not_found="I cannot find the question behind this link: it does not lead to an answer"
    " of mine, or that is too old.",
    explain_words_gone="The words of this question are no longer kept: I cannot explain it.",
    explain_elsewhere="This question was asked in a conversation that you cannot read.",
    explain_title="An answer explained",
    explain_then="On {moment}: {outcome}, confidence {confidence}.",
    explain_now="Now: {outcome}, confidence {confidence}.",
    explain_answer="an answer",
    explain_empty_question="The question has no word to look for.",
    explain_no_passage="No passage was found.",
    explain_not_grounded="The passages say nothing of what was proposed.",
    explain_unsupported="What was found does not answer the question surely enough.",
    explain_read_as="Understood with its thread: “{text}”",
    explain_words="Words looked for, with how rare they are",
    explain_unknown="unknown to the handbook",
    explain_no_words="none",
    explain_passages="Passages found, the best first",
    explain_passage="rank by words: {keyword}, rank by meaning: {vector}, closeness: {cosine},"
    " first stage: {first}, second stage: {second}",
    explain_terms="the words gave: {terms}",
    explain_draft="Draft: {generator}",
    explain_passed="let through: {sentence}",
    explain_refused="refused: {sentence} ({reason})",
    explain_nothing="Nothing was proposed.",
    explain_support="Last check: {probability}, threshold {threshold}.",
    explain_signals="Signals, value × weight",
    explain_footer="Computed just now, on today's handbook and on the pages that everybody in that"
    " conversation may read.",
    corrections_help="{command} corrections: the answers that quote what has changed, and how to"
    " say so.",
    stale_found="Recent answers quote a passage that has changed or gone. The handbook's admins"
    " find them with /handbook corrections.",
    home_stale="Answers that quote a passage that has changed or gone: {count}. To see them:"
    " /handbook corrections",
    stale_none="No recent answer quotes a passage that has changed.",
    stale_listed="These answers quote a passage that has changed or gone since:",
    stale_public="answer in a thread",
    stale_private="private answer",
    stale_hidden="Page that is gone, or for others",
    correction_post="Tell of the change",
    correction_dismiss="Let it be",
    correction_open="See it",
    correction_note="The page “{title}” has changed since: the passage quoted here is no longer in"
    " it. Ask again for an answer that is up to date.",
    correction_private="The page “{title}” has changed since an answer that I gave you in private:"
    " the passage quoted is no longer in it. Ask again for an answer that is up to date.",
    correction_asked="You had asked: {question}",
    correction_posted="I have told of it.",
    correction_dismissed="I will not mention it.",
    correction_decided="Somebody has seen to it already.",
    correction_failed="Slack did not take the message: try again in a moment.",
    uploads_help="{command} uploads: the pages sent in direct messages, and how to remove them.",
    upload_admins_only="Thank you! Only those who run the handbook add files to it: pass this one"
    " on to them, I have not kept it.",
    upload_nowhere="No source takes files: add one of type upload to handbook.toml.",
    upload_running="Reading {names}…",
    upload_one="1 page indexed: {names}",
    upload_many="{count} pages indexed: {names}",
    upload_later="Kept: {names}. The index could not be brought up to date; the next sync will.",
    upload_refused="Not taken:",
    upload_unreachable="Slack did not hand it over, however often I tried",
    upload_not_kept="the server could not keep it; its log says why",
    uploads_none="No page has been sent.",
    uploads_listed="Pages sent: {count}",
    upload_remove="Remove",
    upload_remove_text="“{name}” will no longer be used for answers.",
    upload_removed="Page removed: {name}",
    upload_removed_later="Page removed: {name}. The index follows at the next sync.",
    upload_gone="That page is no longer there: {name}",
    channel_help="{command} channel: the settings of the channel you are in.",
    channel_title="Channel settings",
    channel_sources="Sources to look into",
    channel_all_sources="All sources",
    channel_language="Language of my words",
    channel_language_reader="That of each person",
    channel_language_fr="French",
    channel_language_en="English",
    channel_answers="Where to answer mentions",
    channel_answers_here="In the thread, for the whole channel",
    channel_answers_privately="In a direct message to whoever asks",
    channel_who="Who may ask",
    channel_who_house="As everywhere else",
    channel_who_everyone="Everybody in the channel, guests included",
    channel_who_members="Members of the workspace",
    channel_who_admins="Admins",
    channel_saved="The settings of this channel are saved.",
    channel_failed="I could not set up this channel: that is an error on my side. Please try again"
    " in a moment.",
    channel_not_here="Settings are those of a channel: type this command in the one to set up.",
    channel_admins_only="In this channel I answer admins only.",
    channel_moved="In the channel where you asked, I answer in private.",
    home_gaps_pending="Grouping them: they will be here in a moment.",
    never="never",
    moment="{date} at {time}",
    date="{day} {month} {year}",
    months=(
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
)

WORDS: dict[Language, Words] = {"fr": FRENCH, "en": ENGLISH}


def language_of_locale(locale: str) -> Language | None:
    """Return the language of a locale such as `fr-FR`, None where we do not speak it."""
    spoken: dict[str, Language] = {"fr": "fr", "en": "en"}
    return spoken.get(locale[:2].lower())


def language_of(question: str, *, otherwise: str = DEFAULT_LANGUAGE) -> Language:
    """Choose the language to speak to somebody who asks this.

    Args:
        question: What was asked.
        otherwise: Used when the question does not tell; a language we do not speak counts as
            `DEFAULT_LANGUAGE`.
    """
    spoken: dict[str, Language] = {"fr": "fr", "en": "en"}
    return spoken.get(french_or_english(question), "en" if otherwise == "en" else DEFAULT_LANGUAGE)


# In both languages: nobody knows yet who reads them.
NOT_ALLOWED = (
    "Manuel n'est pas ouvert à cet espace de travail : voyez avec qui l'administre.\n"
    "Manuel is not open to this workspace: ask whoever runs it.\n"
)
INSTALLATION_FAILED = (
    "L'installation n'a pas abouti : recommencez dans quelques minutes.\n"
    "The installation did not succeed: try again in a few minutes.\n"
)
NOT_INSTALLED = (
    "Manuel n'est pas installé dans cet espace de travail.\n"
    "Manuel is not installed in this workspace."
)

"""Which answers rest on what is gone, and what was deleted before an answer could be posted."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from bot.freshness import find_stale, only_present, without_gone
from bot.metrics import Metrics
from bot.records import Abstention, Claim, GroundedAnswer, Question
from bot.slack.readiness import HandbookWhenReady
from bot.store import (
    CitationStore,
    LoggedQuestion,
    QuestionLog,
    forget_user,
    logged_passages,
    migrate,
)
from bot.store import open_engine as open_database
from ingest import PUBLIC, SourcePresence, open_reader, run_ingest
from tests.outcomes import answer, claim, passage
from tests.slack_running import ScriptedHandbook, settings_in

DAY_S = 86_400.0
NOON = 1_800_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "handbook.toml").write_text('[[sources]]\nname = "guide"\npath = "pages"\n')
    (tmp_path / "pages").mkdir()
    for number in range(6):
        page = tmp_path / "pages" / f"page{number}.md"
        page.write_text(f"# Page {number}\n\nLa règle {number} est simple.\n\nAutre phrase.\n")
    run_ingest(settings_in(tmp_path))
    return tmp_path


class Looking:
    """The bot's tables and the index of a folder, with a clock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._engine = open_database(f"sqlite:///{folder / 'manuel.db'}")
        migrate(self._engine)
        self.now = NOON
        self.store = CitationStore(self._engine, now=lambda: self.now)
        self._log = QuestionLog(self._engine, keep_days=0, now=lambda: self.now)

    def answered(self, question_id: str, page: str, quote: str) -> None:
        """Write down an answer that quotes a page as it is in the index now."""
        with open_reader(settings_in(self._folder)) as reader:
            version = reader.page_texts([("guide", page)])["guide", page].version
        said = passage(quote, page=page)
        said = replace(said, chunk=replace(said.chunk, page_version=version))
        cited = logged_passages(answer(claim(of=said)))
        asked = ("C1", "1.0", "1.0", "U1", "?", "answer", "extractive", "fr", 1.0)
        self._log.record(LoggedQuestion(question_id, "T1", *asked, cited))

    def stale(self, *, days: int = 30) -> set[str]:
        """Sync, look, and return the answers that wait for a decision."""
        run_ingest(settings_in(self._folder), allow_removals=True)
        with open_reader(settings_in(self._folder)) as reader:
            find_stale(self.store, reader, days=days)
        return {one.question_id for one in self.store.waiting("T1", limit=99)}

    def forget(self, user_id: str) -> None:
        forget_user(self._engine, user_id)

    def close(self) -> None:
        self._engine.dispose()


@pytest.fixture
def looking(folder: Path) -> Iterator[Looking]:
    looking = Looking(folder)
    yield looking
    looking.close()


def test_only_answers_whose_quote_is_gone_are_stale(folder: Path, looking: Looking) -> None:
    pages = folder / "pages"
    for number in range(4):
        looking.answered(f"q{number}", f"page{number}.md", f"La règle {number} est simple.")
    assert looking.stale() == set()

    (pages / "page0.md").write_text("# Page 0\n\nLa règle 0 est simple.\n\nUne tout autre fin.\n")
    (pages / "page1.md").rename(pages / "ailleurs.md")
    assert looking.stale() == set()

    (pages / "page2.md").write_text("# Page 2\n\nLa règle 2 est compliquée.\n\nAutre phrase.\n")
    (pages / "page3.md").unlink()
    assert looking.stale() == {"q2", "q3"}
    assert looking.store.decide("q2", team_id="T2") is None
    assert looking.store.decide("q2", team_id="T1") is not None
    assert looking.store.decide("q2", team_id="T1") is None
    assert looking.stale() == {"q3"}
    looking.store.undecide("q2")
    assert looking.stale() == {"q2", "q3"}


def test_answers_are_forgotten_after_their_days(folder: Path, looking: Looking) -> None:
    looking.answered("q0", "page0.md", "La règle 0 est simple.")
    looking.now = NOON + 31 * DAY_S
    (folder / "pages" / "page0.md").unlink()
    assert looking.stale() == set()


def test_what_somebody_was_told_is_forgotten_with_them(folder: Path, looking: Looking) -> None:
    looking.answered("q0", "page0.md", "La règle 0 est simple.")
    looking.answered("q1", "page1.md", "La règle 1 est simple.")
    (folder / "pages" / "page0.md").unlink()
    assert looking.stale() == {"q0"}
    looking.forget("U1")
    assert looking.store.cited_pages() == ()
    assert looking.stale() == set()


# --- before an answer is posted ------------------------------------------------------------------


def two_claims() -> GroundedAnswer:
    other = passage(chunk_id="other", page="gone.md")
    return answer(claim(), claim(of=other))


def test_what_was_deleted_meanwhile_is_left_out_and_alone_leaves_an_abstention() -> None:
    whole = two_claims()
    left = without_gone(whole, lambda chunk: chunk.page == "gone.md")
    assert isinstance(left, GroundedAnswer)
    assert left.claims == whole.claims[:1]
    assert without_gone(whole, lambda chunk: False) is whole
    disagreeing = replace(whole, disagreement=True)
    alone = without_gone(disagreeing, lambda chunk: chunk.page == "gone.md")
    assert isinstance(alone, GroundedAnswer)
    assert not alone.disagreement
    nothing = without_gone(whole, lambda chunk: True)
    assert isinstance(nothing, Abstention)
    assert not nothing.subject_close
    heard: list[Claim] = []
    for one in whole.claims:
        only_present(heard.append, lambda chunk: chunk.page == "gone.md")(one)
    assert heard == list(whole.claims[:1])


def test_a_page_that_left_the_index_or_its_source_is_not_posted() -> None:
    scripted = ScriptedHandbook(lambda question, audiences, on_claim=None: two_claims())
    asked = Question("télétravail ?")
    gone = HandbookWhenReady(lambda: scripted, Metrics(), lambda source, page: page == "gone.md")
    outcome = gone.answer(asked, PUBLIC)
    assert isinstance(outcome, GroundedAnswer)
    assert len(outcome.claims) == 1
    scripted.readable = False
    assert isinstance(
        HandbookWhenReady(lambda: scripted, Metrics()).answer(asked, PUBLIC), Abstention
    )


def presence(folder: Path, table: str, **options: float) -> SourcePresence:
    (folder / "handbook.toml").write_text(f'[[sources]]\nname = "s"\n{table}\n')
    return SourcePresence(settings_in(folder), **options)


def test_a_file_is_looked_for_and_a_folder_that_is_away_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    name = unicodedata.normalize("NFD", "congés.md")
    (tmp_path / "pages" / name).write_text("x")
    asked = presence(tmp_path, 'path = "pages"')
    assert not asked.is_gone("s", "congés.md")
    assert asked.is_gone("s", "autre.md")
    assert not asked.is_gone("unknown", "autre.md")
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "autre.md").write_text("x")
    (tmp_path / "handbook.toml").write_text('[[sources]]\nname = "s"\npath = "moved"\n')
    os.utime(tmp_path / "handbook.toml", (1, 1))
    assert not asked.is_gone("s", "autre.md")
    (tmp_path / "moved" / "autre.md").unlink()
    (tmp_path / "moved").rmdir()
    assert not asked.is_gone("s", "autre.md")


def test_a_page_of_a_repository_here_is_looked_for_in_its_branch(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "docs").mkdir(parents=True)
    (repository / "docs" / "a.md").write_text("x")
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "A"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    asked = presence(
        tmp_path, f'type = "git"\nrepository = "{repository}"\nbranch = "main"\nfolder = "docs"'
    )
    assert not asked.is_gone("s", "a.md")
    assert asked.is_gone("s", "b.md")
    missing = presence(tmp_path, f'type = "git"\nrepository = "{repository}"\nbranch = "other"')
    assert not missing.is_gone("s", "b.md")


def test_names_that_are_half_decomposed_are_found_in_folders_and_repositories(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "docs" / unicodedata.normalize("NFD", "congés")
    folder.mkdir(parents=True)
    (folder / "été.md").write_text("x")
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "A"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    files = presence(tmp_path, 'path = "docs"')
    assert not files.is_gone("s", "congés/été.md")
    assert files.is_gone("s", "congés/hiver.md")
    assert files.is_gone("s", "autres/été.md")
    asked = presence(tmp_path, f'type = "git"\nrepository = "{tmp_path}"\nfolder = "./docs/"')
    assert not asked.is_gone("s", "congés/été.md")
    assert asked.is_gone("s", "congés/hiver.md")


def test_a_file_that_cannot_be_looked_for_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    asked = presence(tmp_path, 'path = "pages"')
    too_long = f"{'x' * 300}.md"
    with pytest.raises(OSError, match="too long"):
        (tmp_path / "pages" / too_long).stat()
    assert not asked.is_gone("s", too_long)


def test_a_page_of_a_website_is_asked_for_and_one_that_does_not_answer_is_left_alone(
    tmp_path: Path,
) -> None:
    asked_for: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked_for.append(self.path)
            if self.path == "/silent":
                self.close_connection = True
                return
            self.send_response(404 if self.path in ("/gone", "/no-head") else 200)
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(404 if self.path == "/gone" else 200)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        website = f'type = "website"\nstart = "{url}/"'
        assert not presence(tmp_path, website, web_budget_s=30).is_gone("s", f"{url}/gone")
        assert asked_for == []  # a private address, which nobody said it may have
        website += "\nprivate_network = true"
        looked = presence(tmp_path, website, web_budget_s=30)
        assert looked.is_gone("s", f"{url}/gone")
        assert looked.is_gone("s", f"{url}/gone")
        assert not looked.is_gone("s", f"{url}/there")
        assert not looked.is_gone("s", f"{url}/no-head")
        assert not looked.is_gone("s", "http://127.0.0.1:1/gone")
        assert not looked.is_gone("s", f"{url}/silent")
        assert not looked.is_gone("s", f"{url}/gone")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert asked_for == ["/gone", "/there", "/no-head", "/silent"]

"""What a sync from a git repository costs: the first one, then small changes to it.

    python tests/benchmarks/git_sync.py [--pages 3000] [--shared ../shared] [--encoder none]

Pages of the real handbooks go into a repository served over HTTP by git itself; the real
commands sync it. Figures are counts, and times as shares of the first sync.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.git_repository import Repository, git, smart_http  # noqa: E402 - needs the path above

CORPORA = ("gitlab-handbook", "sourcegraph-handbook", "tts-handbook", "service-public")
SHARE = 0.01


@dataclass(frozen=True)
class Figures:
    """One sync."""

    name: str
    fetched: int
    embedded: int
    reused: int
    removed: int
    requests: int
    seconds: float


def main() -> int:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=3_000)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--encoder", default="none", help="EMBEDDING_MODEL of the syncs")
    options = parser.parse_args()
    if not options.shared.is_dir():
        _say(f"no handbooks in {options.shared}: nothing to measure")
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        figures = _measure(Path(scratch), options.shared, options.pages, options.encoder)
    _print(figures)
    return 0


def _measure(folder: Path, shared: Path, count: int, encoder: str) -> list[Figures]:
    repository = Repository.create(folder)
    git("config", "uploadpack.allowFilter", "true", cwd=repository.bare)
    _fill(repository, shared, count)
    with smart_http(folder) as server:
        (folder / "handbook.toml").write_text(
            '[[sources]]\nname = "handbook"\ntype = "git"\n'
            f'repository = "{server.url}/handbook.git"\n',
            encoding="utf-8",
        )

        def run(name: str) -> Figures:
            before = len(server.requests)
            report = _sync(folder, encoder)
            return Figures(
                name,
                fetched=report["added"] + report["updated"],
                embedded=report["embeddings"]["computed"],
                reused=report["embeddings"]["reused"],
                removed=report["removed"],
                requests=len(server.requests) - before,
                seconds=report["seconds"],
            )

        figures = [run("first sync"), run("nothing changed")]
        for name, change in (
            ("1 % changed", _edit),
            ("1 % renamed", _rename),
            ("1 % deleted", _delete),
            ("history rewritten, same pages", _rewrite),
        ):
            change(repository)
            figures.append(run(name))
    return figures


def _fill(repository: Repository, shared: Path, count: int) -> None:
    """Commit pages in steps, so that there is a history to walk."""
    found = [
        (corpus, page)
        for corpus in CORPORA
        for page in sorted((shared / "corpora" / corpus).rglob("*.md"))
    ]
    step = max(1, count // 50)
    for start in range(0, min(count, len(found)), step):
        for corpus, page in found[start : min(start + step, count)]:
            target = repository.copy / corpus / page.relative_to(shared / "corpora" / corpus)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target)
        repository.push(f"pages from {start}")


def _some(repository: Repository) -> list[Path]:
    pages = sorted(repository.copy.rglob("*.md"))
    return pages[:: round(1 / SHARE)]


def _edit(repository: Repository) -> None:
    for page in _some(repository):
        text = page.read_text(encoding="utf-8")
        page.write_text(f"{text}\n\n## A new rule\n\nAsk before you leave.\n", encoding="utf-8")
    repository.push("edit")


def _rename(repository: Repository) -> None:
    for page in _some(repository):
        page.rename(page.with_name(f"moved-{page.name}"))
    repository.push("rename")


def _delete(repository: Repository) -> None:
    for page in _some(repository):
        page.unlink()
    repository.push("delete")


def _rewrite(repository: Repository) -> None:
    repository.git("checkout", "-q", "--orphan", "anew")
    repository.git("commit", "-q", "-m", "everything again")
    repository.git("branch", "-q", "-M", "main")
    repository.git("push", "-q", "--force", "origin", "HEAD")


def _sync(folder: Path, encoder: str) -> dict[str, int | float | dict[str, int]]:
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(folder / "handbook.toml"),
        "CACHE_DIR": str(folder / "cache"),
        "EMBEDDING_MODEL": encoder,
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "ingest", "run", "--json", "--allow-removals"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["totals"]


def _print(figures: list[Figures]) -> None:
    first = figures[0].seconds
    lines = [
        "| sync | pages read and parsed | removed | embedded | reused | requests | time |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {f.name} | {f.fetched} | {f.removed} | {f.embedded} | {f.reused} | {f.requests}"
        f" | {f.seconds / first:.1%} |"
        for f in figures
    ]
    sys.stdout.write("\n".join(lines) + f"\n\nThe first sync took {first:.1f} s.\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())

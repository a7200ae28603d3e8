"""docs/sources.md and the example of handbook.toml: every key is there, all of it accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingest.config import load_config
from ingest.settings import IngestSettings
from ingest.sources.configuration import KINDS

ROOT = Path(__file__).resolve().parents[4]
DOCS = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "deploy" / "handbook.example.toml").read_text(encoding="utf-8")


def examples() -> list[str]:
    """Return each example, those in the file without their comment signs."""
    documented = re.findall(r"```toml\n(.*?)```", DOCS, re.S)
    commented = re.findall(r"^# \[\[sources\]\]\n(?:^#.*\n)+", EXAMPLE, re.M)
    return [
        *(block for block in documented if "[[sources]]" in block),
        *(re.sub(r"^# ", "", block, flags=re.M) for block in commented),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_every_kind_is_documented(kind):
    named = set(re.findall(r"\w+", DOCS))

    assert set(KINDS[kind].model_fields) - named == set()


def test_every_example_is_accepted_and_every_kind_has_one(tmp_path):
    file = tmp_path / "handbook.toml"
    kinds = {"folder", "upload"}  # folder: the one example that is no comment
    for example in examples():
        file.write_text(example, encoding="utf-8")
        settings = IngestSettings(_env_file=None, handbook_config=file)
        kinds |= {table.type for table in load_config(settings).sources}

    assert kinds == set(KINDS) | {"upload"}

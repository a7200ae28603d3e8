"""The adapter is chosen by the scheme of DATABASE_URL."""

import subprocess
import sys

import pytest

from ingest.errors import ConfigurationError
from ingest.index import open_reader, open_writer
from ingest.settings import IngestSettings


@pytest.mark.parametrize("opening", [open_reader, open_writer])
@pytest.mark.parametrize("url", ["mysql://x/y", "data/manuel.db", "", "postgres://x"])
def test_other_databases_are_refused_with_what_is_supported(opening, url):
    settings = IngestSettings(database_url=url, _env_file=None)
    with pytest.raises(ConfigurationError, match=r"DATABASE_URL.*sqlite:///PATH"):
        opening(settings)


def test_opening_touches_nothing(tmp_path):
    settings = IngestSettings(database_url=f"sqlite:///{tmp_path}/new/x.db", _env_file=None)
    with open_reader(settings), open_writer(settings):
        assert list(tmp_path.iterdir()) == []


def test_a_reader_does_not_load_alembic():
    program = "import sys, ingest.index.sqlite_reader; sys.exit('alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

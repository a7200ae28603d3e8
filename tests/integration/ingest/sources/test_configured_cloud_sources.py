"""Notion, SharePoint and Google Drive as handbook.toml configures them: secrets, checks, syncs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.settings import BotSettings
from ingest import ConfigurationError
from ingest.app import run_ingest
from ingest.config import load_config
from ingest.source_checks import check_sources
from tests.drive_site import FOLDER, GoogleDrive
from tests.drive_site import ROOT as DRIVE_ROOT
from tests.drive_site import File as DriveFile
from tests.graph_site import CLIENT, SECRET, TENANT, Graph, Item
from tests.notion_site import TOKEN, Notion, Page, id_of, paragraph
from tests.web_site import Site, serving

TABLES = """
[[sources]]
name = "notion"
type = "notion"
roots = ["{root}"]
token_env = "NOTION_TOKEN"
audience = ["everyone"]
api = "{notion}"
private_network = true
requests_per_second = 1000

[[sources]]
name = "sharepoint"
type = "sharepoint"
site = "https://company.sharepoint.com/sites/manuel"
tenant = "{tenant}"
client_id = "{client}"
client_secret_env = "SHAREPOINT_SECRET"
group_audiences = {{ "RH" = "rh" }}
api = "{graph}"
login = "{graph}"
private_network = true
requests_per_second = 1000

[[sources]]
name = "drive"
type = "google_drive"
folders = "{folder}"
key_env = "DRIVE_KEY"
domains = "company.example"
api = "{drive}"
private_network = true
requests_per_second = 1000
"""


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    return BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'data' / 'manuel.db'}",
        handbook_config=tmp_path / "handbook.toml",
        cache_dir=tmp_path / "cache",
        embedding_model="none",
    )


@pytest.fixture
def configured(settings: BotSettings, tmp_path: Path, monkeypatch) -> Iterator[BotSettings]:
    """Run the three services with a page each, and write the tables that name them."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with ExitStack() as stack:
        sites = [stack.enter_context(serving(Site())) for _ in range(4)]
        Notion({1: Page("Manuel", [paragraph("Le congé dure cinq semaines.")])}).on(sites[0])
        graph = Graph(sites[3])
        graph.put("1", Item("badge.md", b"# Badge\n\nLe badge ouvre la porte.\n"))
        graph.on(sites[1])
        drive = GoogleDrive({DRIVE_ROOT: DriveFile("Manuel", kind=FOLDER)}, public.decode())
        drive.files["markdown-1"] = DriveFile("frais.md", b"# Frais\n\nLe repas est rembourse.\n")
        drive.on(sites[2])
        account = {
            "client_email": "manuel@company.iam.gserviceaccount.com",
            "private_key": pem,
            "token_uri": f"{sites[2].url}/token",
        }
        (tmp_path / "key.json").write_text(json.dumps(account), encoding="utf-8")
        settings.handbook_config.write_text(
            TABLES.format(
                root=id_of(1),
                notion=sites[0].url,
                tenant=TENANT,
                client=CLIENT,
                graph=sites[1].url,
                folder=DRIVE_ROOT,
                drive=sites[2].url,
            ),
            encoding="utf-8",
        )
        monkeypatch.setenv("NOTION_TOKEN", TOKEN)
        monkeypatch.setenv("SHAREPOINT_SECRET", SECRET)
        monkeypatch.setenv("DRIVE_KEY", str(tmp_path / "key.json"))
        yield settings


def test_each_is_checked_and_synced_with_its_secret_which_is_written_nowhere(
    configured, tmp_path, caplog
):
    with caplog.at_level(logging.DEBUG):
        checks = check_sources(configured)
        first = run_ingest(configured)
        second = run_ingest(configured)

    assert [(check.name, check.ok, check.detail) for check in checks] == [
        ("notion", True, "Manuel"),
        ("sharepoint", True, "Documents answers"),
        ("drive", True, "Manuel"),
    ]
    assert [report.added for report in first] == [("Manuel",), ("badge.md",), ("frais.md",)]
    assert [(report.unchanged, report.updated) for report in second] == [(1, ())] * 3
    assert all(report.complete for report in first + second)
    written = b"".join(
        file.read_bytes()
        for folder in ("cache", "data")
        for file in (tmp_path / folder).rglob("*")
        if file.is_file()
    )
    for secret in (TOKEN, SECRET, "PRIVATE KEY", "token-0", "ya29.", "k3y"):
        assert secret.encode() not in written
        assert not [
            record
            for record in caplog.records
            if record.name.startswith(("ingest", "bot")) and secret in record.getMessage()
        ]


@pytest.mark.parametrize("variable", ["NOTION_TOKEN", "SHAREPOINT_SECRET", "DRIVE_KEY"])
def test_a_secret_that_is_not_set_is_named(configured, monkeypatch, variable):
    monkeypatch.delenv(variable)

    [wrong] = [check for check in check_sources(configured) if not check.ok]
    assert f"needs the environment variable {variable}" in wrong.detail


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('type = "notion"\nroots = []\ntoken_env = "T"', "roots"),
        ('type = "notion"\nroots = ["x"]', "token_env"),
        ('type = "sharepoint"\ntenant = "t"\nclient_id = "c"\nclient_secret_env = "S"', "site or"),
        (
            'type = "sharepoint"\ntenant = "t"\nclient_id = "c"\nclient_secret_env = "S"\n'
            'user = "ada@company.example"\nitem_permissions = false',
            "needs audience",
        ),
        ('type = "google_drive"\nfolders = "f"', "key_env"),
        ('type = "google_drive"\nfolders = "f"\nkey_env = "K"\ntoken_env = "T"', "key_env"),
        (
            'type = "google_drive"\nfolders = "f"\nkey_env = "K"\nitem_permissions = false',
            "needs audience",
        ),
    ],
)
def test_a_table_that_cannot_be_right_says_what_is_missing(settings, table, problem):
    settings.handbook_config.write_text(f'[[sources]]\nname = "s"\n{table}\n', encoding="utf-8")

    with pytest.raises(ConfigurationError, match=problem):
        load_config(settings)

"""handbook.toml: what it may hold, and what is said of what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.config import load_config, select_sources, source_from_spec
from ingest.errors import ConfigurationError
from ingest.settings import IngestSettings
from ingest.sources import configuration
from ingest.sources.configuration import FolderTable

EXAMPLE = Path(__file__).resolve().parents[3] / "deploy" / "handbook.example.toml"


@pytest.fixture
def settings(tmp_path: Path) -> IngestSettings:
    return IngestSettings(_env_file=None, handbook_config=tmp_path / "handbook.toml")


def write(settings: IngestSettings, text: str) -> None:
    settings.handbook_config.write_text(text, encoding="utf-8")


def test_an_absent_file_is_an_empty_configuration(settings):
    config = load_config(settings)

    assert config.sources == ()
    assert config.acronyms == {}


def test_a_whole_file_is_read_and_relative_paths_start_at_it(settings, tmp_path):
    write(
        settings,
        """
        [[sources]]
        name = "handbook"
        type = "folder"
        path = "pages"
        url = "https://example.com/{path}"
        include = ["**/*.md"]
        exclude = ["drafts/**"]
        audience = "managers"

        [acronyms]
        CODIR = "comité de direction"

        [synonyms]
        groups = [["télétravail", "remote work"]]
        """,
    )

    config = load_config(settings)

    assert config.sources == (
        FolderTable(
            name="handbook",
            path=tmp_path / "pages",
            url="https://example.com/{path}",
            include=("**/*.md",),
            exclude=("drafts/**",),
            audience=("managers",),
        ),
    )
    table = config.synonym_table()
    assert ("CODIR", "comité de direction") in table.groups
    assert ("télétravail", "remote work") in table.groups


def test_a_handbooks_own_meaning_of_an_acronym_replaces_the_common_one(settings):
    write(settings, '[acronyms]\nCP = "chef de projet"\n')

    meanings = [
        group[1] for group in load_config(settings).synonym_table().groups if group[0] == "CP"
    ]

    assert meanings == ["chef de projet"]


def test_the_example_in_the_repository_is_valid():
    settings = IngestSettings(_env_file=None, handbook_config=EXAMPLE)

    config = load_config(settings)

    assert [(s.name, s.path) for s in config.sources] == [("handbook", EXAMPLE.parent / "handbook")]


SOURCE = '[[sources]]\nname = "a"\npath = "a"\n'
GIT = '[[sources]]\nname = "g"\ntype = "git"\nrepository = "https://example.com/g"\n'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            SOURCE + '[[sources]]\nname = "b"\npth = "b"\n',
            ["[[sources]] 2", "pth", "path is missing"],
        ),
        ('[acronym]\nRH = "x"\n', ["acronym is not a known key"]),
        (SOURCE + 'type = "wiki"\n', ["[[sources]] 1", "type is wrong", "folder, git, website"]),
        (SOURCE + 'token = "abc"\n', ["[[sources]] 1: token is not", "environment", "token_env"]),
        (
            SOURCE + 'type = "git"\n',
            ["[[sources]] 1: repository is missing", "path is not a known"],
        ),
        (GIT + 'token_env = "a-b"\n', ["[[sources]] 1: token_env"]),
        (GIT.replace("//", "//me:pw@"), ["[[sources]] 1: repository", "environment"]),
        (GIT.replace("https://", "--upload-pack="), ["repository", "cannot start with `-`"]),
        (GIT + 'branch = "-x"\n', ["branch", "cannot start with `-`"]),
        (
            '[audiences.rh]\nuser_group = ["S1"]\n',
            ["[audiences.rh]: user_group is not a known key"],
        ),
        ('[prices."m-1"]\ninput = 1\n', ["[prices.m-1]: output is missing"]),
        (SOURCE + 'include = "*.md"\n', ["[[sources]] 1", "include"]),
        ('[[sources]]\nname = ""\npath = "a"\n', ["[[sources]] 1", "name"]),
        ('[[sources]]\nname = "a:b"\npath = "a"\n', ["[[sources]] 1", "`:`"]),
        ("[acronyms]\nRH = 3\n", ["[acronyms]", "RH"]),
        ('[synonyms]\ngroups = ["a"]\n', ["[synonyms]", "groups"]),
        ("sources = 3\n", ["sources"]),
        ("[[sources]\n", ["not valid TOML", "line 1"]),
        (SOURCE + SOURCE.replace('path = "a"', 'path = "b"'), ["two sources are named 'a'"]),
    ],
)
def test_an_error_names_the_file_the_table_and_the_key(settings, text, named):
    write(settings, text)

    with pytest.raises(ConfigurationError) as caught:
        load_config(settings)

    for part in ["handbook.toml", *named]:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_an_error_that_names_it(settings):
    settings.handbook_config.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigurationError, match=r"handbook\.toml"):
        load_config(settings)


def test_every_configured_source_is_chosen_when_none_is_asked_for(settings):
    write(settings, SOURCE)
    config = load_config(settings)

    assert select_sources((), config, settings) == config.sources


def test_with_nothing_to_ingest_the_error_says_what_to_do(settings):
    with pytest.raises(ConfigurationError) as caught:
        select_sources((), load_config(settings), settings)

    for part in ("handbook.toml does not exist", "--source folder:PATH", "[[sources]]"):
        assert part in str(caught.value)


def test_a_folder_spec_is_named_after_the_folder(settings, tmp_path, monkeypatch):
    (tmp_path / "wiki" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "wiki")
    config = load_config(settings)

    for spec in ("folder:.", "folder:../wiki", f"folder:{tmp_path}/wiki/", "folder:sub/.."):
        source = source_from_spec(spec, config, settings)
        assert (source.name, source.path) == ("wiki", tmp_path / "wiki")
        assert source.audience == ("everyone",)


def test_a_folder_spec_of_a_configured_folder_means_that_source(settings, tmp_path):
    write(settings, SOURCE.replace('name = "a"', 'name = "handbook"'))
    config = load_config(settings)

    assert (
        select_sources([f"folder:{tmp_path / 'a'}", "handbook"], config, settings) == config.sources
    )


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(settings):
    write(settings, SOURCE)

    with pytest.raises(ConfigurationError, match=r"'b'.*\(it has: a\).*folder:b"):
        select_sources(["b"], load_config(settings), settings)


@pytest.mark.parametrize("specs", [["folder:x/docs", "folder:y/docs"], ["folder:x/a"]])
def test_two_folders_never_share_a_name(settings, specs):
    write(settings, SOURCE)

    with pytest.raises(ConfigurationError, match="two sources are named"):
        select_sources(specs, load_config(settings), settings)


def test_several_kinds_of_sources_stand_side_by_side(settings, tmp_path):
    write(settings, SOURCE + GIT + 'owner = "rh@example.com"\n' + LOCAL)

    folder, remote, local = load_config(settings).sources

    assert (folder.place, remote.place) == (str(tmp_path / "a"), "https://example.com/g")
    assert (remote.owner, local.place) == ("rh@example.com", str(tmp_path / "clone"))


WEBSITE = '[[sources]]\nname = "w"\ntype = "website"\n'
WIKI = '[[sources]]\nname = "m"\ntype = "mediawiki"\napi = "https://wiki/api.php"\n'
LOCAL = '[[sources]]\nname = "l"\ntype = "git"\nrepository = "clone"\n'


def test_a_fingerprint_changes_with_links_and_audiences_and_nothing_else(settings):
    def fingerprint(more: str) -> str:
        write(settings, SOURCE + more)
        return load_config(settings).sources[0].fingerprint

    plain = fingerprint("")
    assert fingerprint('owner = "x"\nexclude = ["x"]\n') == plain
    others = {
        fingerprint('url = "https://x/{path}"\n'),
        fingerprint('audience = "rh"\n'),
        fingerprint('path_audiences = { "rh/" = "rh" }\n'),
    }
    assert len(others | {plain}) == 4


def test_another_way_to_match_paths_looks_again_at_the_pages_of_such_rules(settings, monkeypatch):
    write(settings, SOURCE)
    [plain] = load_config(settings).sources
    write(settings, SOURCE + 'path_audiences = { "rh/" = "rh" }\n')
    [ruled] = load_config(settings).sources
    before = (plain.fingerprint, ruled.fingerprint)
    monkeypatch.setattr(configuration, "PATH_RULES", "another")

    assert plain.fingerprint == before[0]
    assert ruled.fingerprint != before[1]


def test_audiences_name_the_people_of_slack(settings):
    write(settings, '[audiences.rh]\nuser_groups = ["S1"]\nusers = ["U1"]\nchannels = ["C1"]\n')

    audience = load_config(settings).audiences["rh"]

    assert (audience.user_groups, audience.users, audience.channels) == ({"S1"}, {"U1"}, {"C1"})


def test_a_website_has_one_start_or_several(settings):
    write(settings, WEBSITE + 'start = "https://x/a/"\n' + WIKI)
    assert load_config(settings).sources[0].place == "https://x/a/"
    write(settings, WEBSITE + 'start = ["https://x/a/", "https://x/b/"]\n')
    assert load_config(settings).sources[0].place == "https://x/a/"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (WEBSITE, "start is missing"),
        (WEBSITE + "start = []\n", "start"),
        (WEBSITE + 'start = "x/a"\n', "http:// or https://"),
        (WEBSITE + 'start = "https://me:pw@x/"\n', "environment"),
        (WEBSITE + 'start = "https://x/"\nrequests_per_second = 0\n', "requests_per_second"),
        (WIKI + 'username = "bot"\n', "username and password_env go together"),
        (WIKI + 'password = "secret"\n', "password is not a known key: secrets stand"),
    ],
)
def test_what_is_wrong_with_a_source_on_the_web_is_named(settings, text, named):
    write(settings, text)

    with pytest.raises(ConfigurationError) as caught:
        load_config(settings)

    assert named in str(caught.value)
    assert "[[sources]] 1" in str(caught.value)

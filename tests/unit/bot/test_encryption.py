"""Sealing tokens: nothing readable is stored, keys can be replaced, changes are noticed."""

import pytest
from cryptography.fernet import Fernet

from bot.encryption import TokenVault
from bot.errors import VaultError
from ingest import ConfigurationError

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
TOKEN = "xoxe.xoxb-1-token"


def test_a_sealed_token_opens_and_cannot_be_read():
    sealed = TokenVault([OLD]).seal(TOKEN)
    assert TOKEN not in sealed
    assert TokenVault([OLD]).open(sealed) == TOKEN


def test_a_new_key_seals_while_the_old_one_still_opens():
    sealed = TokenVault([OLD]).seal(TOKEN)
    both = TokenVault([NEW, OLD])
    assert both.open(sealed) == TOKEN
    assert TokenVault([NEW]).open(both.seal(TOKEN)) == TOKEN


def test_without_its_key_or_changed_it_does_not_open():
    sealed = TokenVault([OLD]).seal(TOKEN)
    for wrong in (sealed[:-4] + "AAA=", "", "xoxb-plain"):
        with pytest.raises(VaultError):
            TokenVault([OLD]).open(wrong)
    with pytest.raises(VaultError) as caught:
        TokenVault([NEW]).open(sealed)
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("keys", [[], [""], ["secret"], [OLD, "short"]])
def test_missing_and_wrong_keys_are_named_with_how_to_make_one(keys):
    with pytest.raises(ConfigurationError, match=r"TOKEN_ENCRYPTION_KEYS.*generate_key"):
        TokenVault(keys)

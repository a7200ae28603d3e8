"""What `pip install` of the core brings is all that the app needs to start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Imports every module of the app in an interpreter that knows the packages of the core alone: in
# this environment those of the extras are there too, and would hide what is missing.
PROGRAM = """
import importlib, pkgutil, re, sys
from importlib.metadata import packages_distributions, requires
from packaging.requirements import Requirement

def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()

def closure(name, extras, seen):
    if (plain(name), frozenset(extras)) in seen:
        return
    seen.add((plain(name), frozenset(extras)))
    for line in requires(name) or ():
        wanted = Requirement(line)
        if wanted.marker is None or any(
            wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            closure(wanted.name, wanted.extras, seen)

seen = set()
closure("manuel", (), seen)
core = {name for name, _ in seen}
homes = packages_distributions()

class CoreAlone:
    def find_spec(self, name, path=None, target=None):
        found = homes.get(name.split(".")[0], ())
        if found and not any(plain(one) in core for one in found):
            raise ModuleNotFoundError(f"{name} is not in the core")
        return None

for name in [name for name in sys.modules if name.split(".")[0] not in sys.stdlib_module_names]:
    if name != "__main__":
        del sys.modules[name]
sys.meta_path.insert(0, CoreAlone())
for package in ("bot", "ingest"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
print("started with", len(core), "packages")
"""


@pytest.fixture(scope="module")
def imported() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_every_module_is_imported_without_the_packages_of_the_extras(imported):
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.startswith("started with")

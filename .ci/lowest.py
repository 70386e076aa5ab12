"""Print the lowest versions that pyproject.toml allows, as constraints for pip."""

import itertools
import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"].values()
for requirement in itertools.chain(project["dependencies"], *extras):
    name, version = re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\w.]+)", requirement).groups()
    print(f"{name}=={version}")

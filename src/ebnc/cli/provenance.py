"""The provenance of models that the command line learns: the command and the data."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
    from ebnc.formats.provenance import Provenance


def provenance_of(files: "DataFiles", name: str, n_rows: int, n_columns: int) -> "Provenance":
    """Return the words of the command, and the fingerprint of the data if they are one file."""
    from ebnc.formats.native import own_version
    from ebnc.formats.provenance import DataSource, Provenance, fingerprint

    paths = files.find()
    digest = fingerprint(paths[0]) if len(paths) == 1 else None
    source = DataSource(name, n_rows, n_columns, digest)
    return Provenance(own_version(), ("ebnc", *sys.argv[1:]), source)

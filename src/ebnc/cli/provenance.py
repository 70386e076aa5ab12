"""Where a model of the command line comes from: the command, and the data."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ebnc.data.files import DataFiles
    from ebnc.formats.provenance import Provenance

__all__ = ["provenance_of"]


def provenance_of(files: "DataFiles", name: str, n_rows: int, n_columns: int) -> "Provenance":
    """The words of the command, and the fingerprint of the data where they are one file."""
    from ebnc.formats.native import own_version
    from ebnc.formats.provenance import DataSource, Provenance, fingerprint

    found = files.find()
    digest = fingerprint(found[0]) if len(found) == 1 else None
    source = DataSource(name, n_rows, n_columns, digest)
    return Provenance(own_version(), ("ebnc", *sys.argv[1:]), source)

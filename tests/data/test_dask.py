"""Partitions on a real cluster of separate processes: the same results as in memory."""

import os
import re
import signal
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

import ebnc  # noqa: E402
from ebnc import EBNCClassifier, EmbeddedStructure  # noqa: E402
from ebnc.data import dask_read  # noqa: E402
from ebnc.data.files import DataFiles  # noqa: E402
from ebnc.data.parts import StoredParts  # noqa: E402
from ebnc.data.plan import Plan  # noqa: E402
from ebnc.data.read import learn_cases  # noqa: E402
from ebnc.data.table import Coding  # noqa: E402
from ebnc.domain import Interval  # noqa: E402
from ebnc.errors import DataError, StorageError  # noqa: E402
from ebnc.learn import fit_cases  # noqa: E402
from ebnc.parameters.phi import Basis  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of Dask's own making


@pytest.fixture(scope="module")
def client():
    with (
        warnings.catch_warnings(),
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
    ):
        warnings.simplefilter("ignore")
        cluster = LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit="800MB",
            dashboard_address=":0",
        )
        with cluster, Client(cluster) as client:
            yield client


def table(n: int = 1200) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    y = generator.integers(0, 2, n)
    return pd.DataFrame(
        {
            "text": np.array(["b", "a", "c"])[(y + generator.integers(0, 2, n)) % 3],
            "few": generator.integers(-1, 2, n),
            "number": np.where(generator.random(n) < 0.1, np.nan, generator.normal(size=n) + y),
            "flag": generator.random(n) < 0.3 + 0.3 * y,
            "w": generator.integers(0, 3, n),
            "y": np.array(["no", "yes"])[y],
        }
    )


INPUTS = ["text", "few", "number", "flag"]
STRUCTURE = EmbeddedStructure.from_string("[y][text|y][few|y][number|flag:y][flag|y]", target="y")


def partitioned(frame: pd.DataFrame, n: int) -> dd.DataFrame:
    return dd.from_pandas(frame, npartitions=n, sort=False)


def of_parts(*parts: pd.DataFrame) -> dd.DataFrame:
    """Partitions as they are, whatever the first one says that they should be."""
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0], verify_meta=False)


@pytest.mark.parametrize("n_partitions", [1, 5])
def test_a_fit_is_the_same_whatever_the_partitions(client, n_partitions):
    frame = table()
    expected = ebnc.fit(STRUCTURE, frame, weights=frame["w"])
    shuffled = frame.sample(frac=1.0, random_state=1)
    found = ebnc.fit(STRUCTURE, partitioned(shuffled, n_partitions), weights="w")
    assert dict(found.domain) == dict(expected.domain)
    assert isinstance(found.domain["number"][0], Interval)
    np.testing.assert_allclose(
        found.phi_in("indicator"), expected.phi_in("indicator"), rtol=0, atol=1e-8
    )
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-8)


def test_a_search_finds_the_same_structure(client):
    frame = table().drop(columns="w")
    expected = EBNCClassifier().fit(frame[INPUTS], frame["y"])
    partitions = partitioned(frame, 2)
    found = EBNCClassifier().fit(partitions, "y")
    assert found.structure_.cluster_key == expected.structure_.cluster_key
    assert found.log_evidence_ == pytest.approx(expected.log_evidence_, abs=1e-8)
    by_part = partitions[INPUTS].map_partitions(
        lambda part: pd.DataFrame(found.predict_proba(part)), meta={0: float, 1: float}
    )
    np.testing.assert_allclose(
        by_part.compute().to_numpy(), expected.predict_proba(frame[INPUTS]), atol=1e-8
    )
    with pytest.raises(DataError, match="map_partitions"):
        found.predict_proba(partitions)


def test_networks_from_partitions(client):
    """The rows are brought together."""
    frame = table(300)[["text", "few", "flag", "y"]]
    expected = ebnc.Network.learn(frame)
    found = ebnc.Network.learn(partitioned(frame, 3))
    assert found.arcs == expected.arcs
    assert found.learned_score == expected.learned_score
    np.testing.assert_array_equal(found.log_likelihood(frame), expected.log_likelihood(frame))
    with pytest.raises(DataError, match="partition 1: the data have no column 'few'"):
        ebnc.Network.learn(of_parts(frame, frame.drop(columns="few")))
    other = frame.assign(few=frame["few"].astype(str) + "x")
    with pytest.raises(DataError, match=r"'few' differs in type between .* number"):
        ebnc.Network.learn(of_parts(frame, other))


def test_empty_partitions_do_not_count(client):
    frame = table(200).drop(columns="w")
    expected = ebnc.fit(STRUCTURE, frame)
    found = ebnc.fit(STRUCTURE, of_parts(frame[:0], frame[:120], frame[:0], frame[120:]))
    np.testing.assert_allclose(
        found.phi_in("indicator"), expected.phi_in("indicator"), rtol=0, atol=1e-8
    )


def test_labels_and_types_of_all_partitions_count(client):
    frame = table(300).drop(columns="w")
    late = frame.assign(text="zebra")
    empty = frame[:0]
    found = learn_cases(of_parts(frame, empty, late), INPUTS, "y")
    expected = learn_cases(pd.concat([frame, late]), INPUTS, "y")
    assert dict(found.domain) == dict(expected.domain)
    assert found.total_weight == expected.total_weight
    ordered = pd.CategoricalDtype(["c", "b", "a", "never"])
    with_order = frame.assign(text=frame["text"].astype(ordered))
    found = learn_cases(of_parts(with_order, with_order[:0], with_order), INPUTS, "y")
    assert found.domain["text"] == ("c", "b", "a", "never")


def test_bad_partitions_are_named(client):
    frame = table(100)
    with pytest.raises(DataError, match="partition 1: the data have no column 'few'"):
        learn_cases(of_parts(frame, frame.drop(columns="few")), INPUTS, "y")
    other = frame.assign(few=frame["few"].astype(str) + "x")
    with pytest.raises(DataError, match=r"'few' differs in type between .* number"):
        learn_cases(of_parts(frame, other), INPUTS, "y")
    categories = {"text": ["a", "b", "c"]}
    late = frame.assign(text="zebra")
    with pytest.raises(DataError, match="partition 1: 'zebra' in column 'text' is not one of"):
        learn_cases(of_parts(frame, late), INPUTS, "y", categories=categories)
    with pytest.raises(DataError, match="no rows"):
        learn_cases(of_parts(frame[:0], frame[:0]), INPUTS, "y")
    with pytest.raises(DataError, match="must be the name of a column"):
        learn_cases(of_parts(frame), INPUTS, "y", weights=frame["w"])


def test_the_example_of_the_guide_runs(client, tmp_path):
    """The block of docs/guides/large-data.md, on this cluster and on files of this folder."""
    page = Path(__file__).parents[2] / "docs" / "guides" / "large-data.md"
    (block,) = re.findall(r"```\n(from dask.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    table(300).rename(columns={"y": "play"}).to_parquet(tmp_path / "rows.parquet")
    block = block.replace("s3://bucket/rows", str(tmp_path)).replace("client = Client()", "")
    names = {"ebnc": ebnc, "np": np}
    lines = block.strip().splitlines()
    exec("\n".join([*lines[:-1], f"predicted = {lines[-1]}"]), names)
    assert names["predicted"].compute().shape == (300, 2)


def test_a_worker_killed_while_it_codes_changes_nothing(client, monkeypatch):
    frame = table()
    expected = ebnc.fit(STRUCTURE, frame)
    victims = list(client.run(os.getpid).values())
    each = dask_read.DaskSource.each

    def killing(source, job, plan, *coder):
        parts = each(source, job, plan, *coder)
        yield next(parts)
        if coder:
            os.kill(victims[0], signal.SIGKILL)  # with the results that it still holds
        yield from parts

    monkeypatch.setattr(dask_read.DaskSource, "each", killing)
    found = ebnc.fit(STRUCTURE, partitioned(frame, 4))
    assert victims[0] not in client.run(os.getpid).values()
    np.testing.assert_allclose(
        found.phi_in("indicator"), expected.phi_in("indicator"), rtol=0, atol=1e-8
    )


def test_rows_that_do_not_fit_stay_on_disk_here(client, monkeypatch):
    frame = table()
    monkeypatch.setattr(dask_read, "DataFiles", lambda _: DataFiles("", memory_limit=8 * 1024))
    monkeypatch.setattr("ebnc.data.read.PART_ROWS", 300)
    parts = learn_cases(partitioned(frame, 4), INPUTS, "y")
    assert isinstance(parts, StoredParts)
    assert parts.total_weight == len(frame)
    whole = learn_cases(frame, INPUTS, "y")
    assert parts.domain == whole.domain
    basis = Basis(STRUCTURE, whole.domain)
    found, expected = fit_cases(basis, parts), fit_cases(basis, whole)
    np.testing.assert_allclose(found.phi, expected.phi, rtol=0, atol=1e-8)


def _hog(batch, plan):
    """Take memory until Dask's nanny ends the process."""
    held = []
    while True:
        held.append(np.ones(2**22))
        time.sleep(0.02)


def _lack_memory(batch, plan):
    raise MemoryError("Unable to allocate 1.00 TiB")


def test_a_worker_out_of_memory_is_a_clear_error(client):
    source = dask_read.DaskSource(partitioned(table(200), 2))
    with pytest.raises(StorageError, match="a worker ran out of memory: Unable to allocate"):
        list(source.each(_lack_memory, Plan(("y",))))
    with pytest.raises(StorageError, match=r"workers died repeatedly .* lack of memory"):
        list(source.each(_hog, Plan(("y",))))
    assert learn_cases(partitioned(table(200), 2), INPUTS, "y").n_rows > 0  # others go on


def test_a_cluster_without_workers_does_not_hang(client, monkeypatch):
    monkeypatch.setattr(dask_read, "PATIENCE", 0.5)
    cluster = LocalCluster(n_workers=0, processes=True, dashboard_address=":0")
    with (
        cluster,
        Client(cluster),
        pytest.raises(StorageError, match=r"no workers for 0\.5 seconds"),
    ):
        learn_cases(partitioned(table(50), 1), INPUTS, "y")


def test_without_a_client_the_way_to_one_is_shown(monkeypatch):
    def no_client():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", no_client)
    with pytest.raises(StorageError, match="needs a client"):
        learn_cases(partitioned(table(50), 1), INPUTS, "y")


def test_kinds_are_those_of_the_frame_in_memory(client):
    """Ordered categories, also those that a partition does not have; declared kinds; bins."""
    frame = table().drop(columns=["w"])
    grades = pd.CategoricalDtype(["never", "low", "mid", "high"], ordered=True)
    place = np.sort(np.random.default_rng(0).integers(1, 4, len(frame)))[::-1]
    frame["grade"] = pd.Categorical.from_codes(place, dtype=grades)
    inputs = [*INPUTS, "grade"]
    coding = Coding.of("smooth", {"text": "ordered", "few": "nominal"})
    expected = learn_cases(frame, inputs, "y", coding=coding).domain
    found = learn_cases(partitioned(frame, 4), inputs, "y", coding=coding).domain
    assert found == expected
    assert found["grade"] == tuple(grades.categories)
    assert found.ordered == {"text", "number", "grade"}

"""A model that was saved is the model that is loaded; any other file is an error, never code."""

import hashlib
import os
import pickle
import resource
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
import xarray

import fairmix
from fairmix import FairBayesianClustering, Geometric
from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures
from fairmix.families import Gaussian
from fairmix.posterior import storage
from fairmix.posterior.netcdf import ENDING
from fairmix.posterior.prediction import Prediction
from fairmix.posterior.storage import Part
from tests.fits import QUICK, assert_same_draws, two_clumps

X, GROUP = two_clumps()
SETTINGS = QUICK | {"n_draws": 40}


@pytest.fixture(scope="module")
def fitted():
    model = FairBayesianClustering(
        Gaussian(rate=0.5),
        **SETTINGS,
        components_prior=Geometric(0.2),
        n_masked={"many": 3},
        init_partition=("one", np.arange(90) % 4),
    )
    return model.fit(X, sensitive_features=GROUP)


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.nc"
    fitted.save(path)
    return path


def test_everything_comes_back(fitted, saved):
    again = fairmix.load(saved)
    assert type(again) is FairBayesianClustering
    assert_same_draws(fitted.posterior_, again.posterior_)
    given, kept = fitted.get_params(), again.get_params()
    assert np.array_equal(given.pop("init_partition")[1], kept.pop("init_partition")[1])
    assert kept == given
    assert again.labels_.dtype == np.int64
    assert np.array_equal(again.labels_, fitted.labels_)
    assert again.feature_names_in_.tolist() == ["x", "y", "z"]
    assert again.schema_ == fitted.schema_
    names = {name for name in vars(fitted) if name.endswith("_")}
    assert names == {name for name in vars(again) if name.endswith("_")}
    assert np.array_equal(again.matches_, fitted.matches_)
    others = {"labels_", "posterior_", "feature_names_in_", "schema_", "matches_"}
    for name in names - others:
        assert getattr(again, name) == getattr(fitted, name), name
    assert again.posterior_.summary().equals(fitted.posterior_.summary())


@pytest.mark.parametrize("include_data", [False, True])
def test_a_model_without_its_rows_says_what_clusters_are_and_labels_new_rows(
    fitted, tmp_path, include_data
):
    path = tmp_path / "model.nc"
    fitted.save(path, include_data=include_data)
    again = fairmix.load(path)
    assert (again.posterior_.training is None) == (not include_data)
    assert again.profile() == fitted.profile()
    assert again.profile(names={0: "first"}).clusters[0].name == "first"
    X, groups = two_clumps()
    new, new_groups = X.iloc[::-1] + 0.5, groups[::-1]
    for method in ("batch", "prices") + ("match",) * include_data:
        labels = fitted.predict(new, sensitive_features=new_groups, method=method)
        kept = again.predict(new, sensitive_features=new_groups, method=method)
        assert np.array_equal(kept, labels)
    assert np.array_equal(again.predict(X, sensitive_features=groups), fitted.labels_)
    assert again.score(new) == fitted.score(new)


def damaged_prediction(fitted, **changes):
    """Give what was learned for predictions with other arrays."""
    plain = fitted.learned_prediction().to_plain()
    return plain | {name: change(plain[name]) for name, change in changes.items()}


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": lambda counts: counts + 1_000_000},  # beyond the family's tables
        {"counts": lambda counts: counts[:-1]},
        {"counts": lambda counts: 0 * counts},
        {"stats": lambda stats: stats[:, :-1]},
        {"prices": lambda prices: prices[:1]},
        {"family/log_constant": lambda table: table[:3]},
        {"family": lambda text: text.replace("fairmix.families.gaussian", "antigravity")},
    ],
)
def test_predictions_that_would_read_beyond_an_array_are_refused(fitted, changes):
    with pytest.raises(ValueError, match=r"does not fit together|has arrays of|no code but"):
        Prediction.from_plain(damaged_prediction(fitted, **changes))
    assert Prediction.from_plain(damaged_prediction(fitted)).n_clusters == fitted.n_clusters_


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (MixtureOfFiniteMixtures, {}),
        (FairletMixture, {}),
        (FairBayesianClustering, {"max_gap": 0.1}),
        (FairBayesianClustering, {"random_state": np.random.RandomState(0), "thin": 3}),
    ],
)
def test_all_models_come_back(kind, changes, tmp_path):
    model = kind(**SETTINGS | changes).fit(X.to_numpy(), sensitive_features=GROUP)
    model.save(str(tmp_path / "it"))
    again = fairmix.load(str(tmp_path / "it"))
    assert type(again) is kind
    assert_same_draws(model.posterior_, again.posterior_)
    assert again.provenance_ == model.provenance_
    if kind is FairletMixture:
        assert np.array_equal(again.fairlets_, model.fairlets_)
        assert again.ratio_ == model.ratio_
    assert not hasattr(again, "feature_names_in_")


def test_rows_are_kept_if_asked_for(fitted, saved, tmp_path):
    assert fairmix.load(saved).posterior_.training is None
    crossed = X.assign(sex=np.arange(90) % 2)
    model = FairBayesianClustering(**SETTINGS, max_gap=0.5)
    model.fit(crossed.assign(group=GROUP), sensitive_features=["group", "sex"])
    model.save(tmp_path / "it", include_data=True)
    one, other = model.posterior_.training, fairmix.load(tmp_path / "it").posterior_.training
    assert np.array_equal(one.values(), other.values())
    assert np.array_equal(one.table.points, other.table.points)
    assert other.table.is_category.dtype == bool
    assert other.family == one.family
    assert other.groups.names == one.groups.names
    assert np.array_equal(one.groups.codes, other.groups.codes)
    assert list(other.groups.attributes) == ["group", "sex"]
    assert np.array_equal(other.groups.attributes["sex"].codes, np.arange(90) % 2)
    with pytest.raises(ValueError, match=r"include_data = True.*without the rows"):
        fairmix.load(saved).save(tmp_path / "it", include_data=True)


def test_without_them_no_row_is_in_the_file(fitted, saved, tmp_path):
    rows = fitted.posterior_.training.table.rows
    fitted.save(tmp_path / "it", include_data=True)
    found = []
    for path in (saved, tmp_path / "it"):
        values = []
        with h5py.File(path) as file:
            file.visititems(
                lambda name, each, values=values: (
                    values.append(each[()].ravel()) if isinstance(each, h5py.Dataset) else None
                )
            )
        numbers = np.concatenate([each for each in values if each.dtype.kind == "f"])
        found.append(np.isin(rows, numbers).any())
    assert found == [False, True]


def test_other_tools_read_the_file(fitted, saved):
    with xarray.open_dataset(saved, engine="h5netcdf") as dataset:
        assert dataset["labels"].dims == ("chain", "draw", "row")
        assert np.array_equal(dataset["labels"].to_numpy(), fitted.posterior_.labels)
        assert np.array_equal(dataset["cost"].to_numpy(), fitted.posterior_.cost)
    with h5py.File(saved) as file:
        assert file["labels"].dtype == np.uint8
        assert file["labels"].compression == "gzip"
        assert file["labels"].chunks == (1, 40, 90)


class OwnPrior:
    def log_pmf(self, n_components):
        return -1.0 * n_components


def test_code_of_the_users_is_said_to_be_missing(tmp_path):
    model = FairBayesianClustering(**SETTINGS, components_prior=OwnPrior())
    model.fit(X, sensitive_features=GROUP).save(tmp_path / "it", include_data=True)
    with pytest.warns(UserWarning, match="test_storage.OwnPrior: code of your own is not kept"):
        again = fairmix.load(tmp_path / "it")
    assert_same_draws(model.posterior_, again.posterior_)
    with pytest.raises(TypeError, match=r"components_prior must be .*test_storage.OwnPrior"):
        again.fit(X, sensitive_features=GROUP)
    again.set_params(components_prior=OwnPrior()).fit(X, sensitive_features=GROUP)
    assert_same_draws(model.posterior_, again.posterior_)


def test_a_loaded_model_cannot_go_on(saved):
    model = fairmix.load(saved)
    with pytest.raises(ValueError, match=r"warm_start = True.*draws only"):
        model.set_params(warm_start=True, n_draws=50).fit(X, sensitive_features=GROUP)


def test_another_part_is_a_line(fitted, tmp_path, monkeypatch):
    part = Part(
        lambda model: {"centres": np.arange(3.0), "names": ("a", 1)},
        lambda model, plain: setattr(model, "centres_", plain),
    )
    monkeypatch.setitem(storage.PARTS, "centres", part)
    fitted.save(tmp_path / "it")
    plain = fairmix.load(tmp_path / "it").centres_
    assert plain["centres"].tolist() == [0.0, 1.0, 2.0]
    assert plain["names"] == ("a", 1)


def test_what_cannot_be_kept_is_an_error(fitted, tmp_path):
    model = FairBayesianClustering(**SETTINGS)
    with pytest.raises(ValueError, match="not fitted yet"):
        model.save(tmp_path / "it")
    model.fit(X, sensitive_features=GROUP)
    model.strange_ = object()
    with pytest.raises(TypeError, match=r"strange_: <object.*cannot be kept in a file"):
        model.save(tmp_path / "it")
    with pytest.raises(TypeError, match="path must be the path of a file, got 3"):
        fitted.save(3)
    with pytest.raises(TypeError, match="include_data must be True or False"):
        fitted.save(tmp_path / "it", include_data="yes")
    assert list(tmp_path.iterdir()) == []


def signed(contents):
    """Give contents the ending that a file of ours has."""
    return contents + ENDING + hashlib.sha256(contents).hexdigest().encode()


def unsigned(path):
    return path.read_bytes()[: -len(ENDING) - 64]


def refused(path, contents, match=""):
    """Assert that a file with these contents is refused, and named."""
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=rf"{path.name} is not a model.*{match}.*model\.save"):
        fairmix.load(path)


def test_random_files(saved, tmp_path):
    rng = np.random.default_rng(0)
    contents = saved.read_bytes()
    path = tmp_path / "broken.nc"
    for kept in [0, 1, 8, 100, len(contents) // 2, len(contents) - 1]:
        refused(path, contents[:kept])
    for at in [0, len(contents) - 1, *rng.integers(len(contents), size=60)]:
        flipped = bytearray(contents)
        flipped[at] ^= 1 << rng.integers(8)
        refused(path, bytes(flipped))
    refused(path, contents + b" ", "does not end")
    refused(path, rng.bytes(5000), "does not end")
    refused(path, b"a,b\n1,2\n", "does not end")
    refused(path, pickle.dumps(print), "does not end")
    refused(path, signed(b"a,b\n1,2\n"))
    refused(path, signed(pickle.dumps(print)))


FUZZ = """
import sys
import numpy as np
import fairmix
from tests.posterior.test_storage import signed, unsigned
from pathlib import Path

rng = np.random.default_rng(int(sys.argv[2]))
contents, path = unsigned(Path(sys.argv[1])), Path(sys.argv[1] + ".fuzzed")
for _ in range(int(sys.argv[3])):
    changed = bytearray(contents)
    for at in rng.integers(len(contents), size=rng.integers(1, 20)):
        changed[at] = rng.integers(256)
    path.write_bytes(signed(bytes(changed)))
    try:
        fairmix.load(path)  # a flipped bit of a number cannot be seen
    except ValueError as error:
        assert "fuzzed is not a model" in str(error)
print("alive")
"""


def fuzz(saved, seed, n_files):
    """Damage a file and give it the right checksum, in a process that may fall down."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FUZZ, str(saved), str(seed), str(n_files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "alive\n", done.stderr


def test_files_that_were_damaged_on_purpose(saved):
    fuzz(saved, 0, 60)


@pytest.mark.thorough
def test_many_files_that_were_damaged_on_purpose(saved):
    fuzz(saved, 1, 2000)


def edit(saved, path, change):
    """Change a file and give it the right checksum."""
    path.write_bytes(unsigned(saved))
    with h5py.File(path, "a") as file:
        change(file)
    return signed(path.read_bytes())


def replace_page(old, new):
    def change(file):
        page = file["parts/model/page"][()].tobytes()
        assert old in page
        attributes = dict(file["parts/model/page"].attrs)
        changed = np.frombuffer(page.replace(old, new), np.uint8)
        del file["parts/model/page"]
        file["parts/model/page"] = changed
        for name in ("type", "shape"):
            file["parts/model/page"].attrs[name] = attributes[name]
        file["parts/model/page"].attrs["shape"] = f"[{len(changed)}]"

    return change


def external_link(file):
    del file["labels"]
    file["labels"] = h5py.ExternalLink("/etc/passwd", "/")


def huge_variable(file):
    del file["cost"]
    file.create_dataset("cost", (10**6, 10**6), "f8", chunks=(10, 10))
    file["cost"].attrs.update({"shape": "[1000000, 1000000]", "type": "float64"})


def foreign_storage(file):
    del file["cost"]
    file.create_dataset("cost", (2, 40), "f8", external=[("/etc/hostname", 0, 640)])
    file["cost"].attrs.update({"shape": "[2, 40]", "type": "float64"})


def objects(file):
    del file["cost"]
    file.create_dataset("cost", data=[["a"]], dtype=h5py.string_dtype())
    file["cost"].attrs.update({"shape": "[1, 1]", "type": "object"})


HOSTILE = {
    "another format": (lambda f: f.attrs.update(fairmix_format=2), "format 2.*reads 1"),
    "no format": (lambda f: f.attrs.pop("fairmix_format"), "format None"),
    "no draws": (lambda f: f.pop("labels"), "lack labels"),
    "no model": (lambda f: f["parts"].pop("model"), "model"),
    "unknown part": (lambda f: f["parts"].move("model", "code"), "model"),
    "link": (external_link, "link to somewhere else"),
    "huge": (huge_variable, "larger than its data can be"),
    "foreign": (foreign_storage, "not in the file"),
    "objects": (objects, "holds no numbers"),
    "another class": (
        replace_page(b'"FairBayesianClustering"', b'"Popen"'),
        "Popen",
    ),
    "another family": (replace_page(b'["a", "Gaussian"]', b'["a", "Popen"]'), "stands for nothing"),
    "a method": (replace_page(b'"groups_"', b'"fit"'), "no name of a fitted"),
    "a property": (replace_page(b'"groups_"', b'"_repr_html_"'), "no name of a fitted"),
    "no JSON": (replace_page(b"{", b"["), ""),
    "deep": (replace_page(b'"groups_"', b"[" * 10**5), ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(saved, tmp_path, name):
    change, match = HOSTILE[name]
    path = tmp_path / "hostile.nc"
    refused(path, edit(saved, path, change), match)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.nc could not be read.*model\.save"):
        fairmix.load(tmp_path / "nowhere.nc")
    with pytest.raises(OSError, match="could not be read"):
        fairmix.load(tmp_path)
    with pytest.raises(TypeError, match="path must be the path of a file"):
        fairmix.load(None)


def test_a_folder_that_is_not_there(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"could not be written.*folder that is there"):
        fitted.save(tmp_path / "nowhere" / "it.nc")


@pytest.mark.skipif(os.name == "nt", reason="no such limit on Windows")
def test_a_disk_that_is_full_loses_nothing(fitted, saved, tmp_path):
    """A limit on the size of files stands for it: the system refuses in the middle of a file."""
    path = tmp_path / "it.nc"
    shutil.copy(saved, path)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match=r"it\.nc could not be written.*as it was.*has room"):
            fitted.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["it.nc"]
    fitted.save(path)
    assert_same_draws(fairmix.load(path).posterior_, fitted.posterior_)


def test_a_folder_that_may_only_be_read(fitted, tmp_path, monkeypatch):
    """Root may write anywhere, so the system's answer is made up."""

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("fairmix.files.Path.open", refuse)
    with pytest.raises(PermissionError, match=r"could not be written.*may be written to"):
        fitted.save(tmp_path / "it.nc")

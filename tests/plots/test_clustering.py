import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from fairmix import FairBayesianClustering
from fairmix.datasets import load_toy
from fairmix.plotting import plot_clustering


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_a_picture_with_three_labelled_panels(n_columns, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, n_columns))
    groups = np.tile(["a", "b"], 20)
    model = FairBayesianClustering(n_warmup=5, n_draws=5, n_chains=1, random_state=0)
    model.fit(X, sensitive_features=groups)
    figure = plot_clustering(model, X, groups, title="A title")
    assert len(figure.axes) == 3
    assert all(axes.get_xlabel() for axes in figure.axes)
    assert figure.get_suptitle() == "A title"
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_categories_and_one_group():
    rng = np.random.default_rng(0)
    words = pd.DataFrame(rng.choice(["u", "v", "w"], size=(40, 3)), columns=["a", "b", "c"])
    frame = words.assign(s=np.tile(["x", "y"], 20), t=np.arange(40) < 20)
    model = FairBayesianClustering("categorical", n_warmup=5, n_draws=5, n_chains=1)
    model.fit(frame, sensitive_features=["s", "t"])
    figure = plot_clustering(model, frame, ["s", "t"])
    legend = figure.axes[1].get_legend()
    assert legend.get_texts()[0].get_text() == "x, False"
    with pytest.raises(ValueError, match=r"4 features.*fitted to 3.*sensitive_features"):
        plot_clustering(model, frame.drop(columns="t"))


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        plot_clustering(FairBayesianClustering(), [[1.0], [2.0]])


def test_another_table_is_refused():
    toy = load_toy(n_rows=60)
    model = FairBayesianClustering(n_warmup=5, n_draws=5, n_chains=1, random_state=0)
    model.fit(toy.data, sensitive_features=toy.sensitive_features)
    with pytest.raises(ValueError, match="54 rows, but the model was fitted to 60"):
        plot_clustering(model, toy.data[:54], toy.sensitive_features[:54])

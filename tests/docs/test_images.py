"""The pictures of docs/ideas are drawn by our code, the same each time."""

import runpy

import matplotlib.pyplot as plt
import pytest

from tests.docs.test_pages import DOCS


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "make_images.py"))


def test_pictures_are_the_same_each_time(script, tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        script["main"](folder)
    names = {path.name for path in folders[0].iterdir()}
    assert names == {f"{name}.png" for name in script["PICTURES"]}
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
        assert (DOCS / "images" / name).exists()


def test_the_picture_of_matching_shows_what_the_page_says(script):
    script["draw_matching"]()
    titles = [ax.get_title() for ax in plt.gcf().axes]
    plt.close("all")
    assert titles[1] == "A plain mixture:\n2 clusters, gap 1.00"
    assert titles[3] == "Pairs are clustered:\n3 clusters, gap 0.00"

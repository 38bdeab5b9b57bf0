"""Pictures are an extra: without it the package works, and a picture says what to install."""

import subprocess
import sys

PICTURES = """
import sys
sys.modules["matplotlib"] = None  # unknown, as where the extra is not installed

import numpy as np
from fairmix import *
from tests.posterior.hand_made import make_posterior, make_training, mixed_table

X, groups, labels = mixed_table()
posterior = make_posterior(np.tile(labels, (1, 5, 1)), training=make_training(X, groups))
for draw in (
    lambda: plots.plot_shares(labels, groups),
    lambda: plots.plot_number_of_clusters(posterior),
    lambda: plots.plot_chains(posterior),
    lambda: plots.plot_profile(posterior.profile()),
    lambda: plots.plot_features(posterior.profile()),
    lambda: plots.plot_similarity(posterior),
    lambda: plots.plot_particles(posterior.particles()),
    lambda: plots.plot_trade_off(None),
):
    try:
        draw()
    except ImportError as error:
        print(error)
"""


def test_a_picture_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", PICTURES], capture_output=True, text=True)
    assert done.stderr == ""
    message = 'Pictures need matplotlib, which is not installed; pip install "fairmix[report]".'
    assert done.stdout.splitlines() == 8 * [message]

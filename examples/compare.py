"""Methods side by side on 1,000 rows of the census data: a table and a picture.

Run: python examples/compare.py (some minutes; writes demo-output/trade_off.png)
"""

from pathlib import Path

from fairmix import compare
from fairmix.datasets import load_adult


def main():
    adult = load_adult(n_rows="paper")
    found = compare(
        adult.data, adult.sensitive_features, n_clusters=3, n_seeds=3, n_jobs=2, verbose=1
    )
    print(found.summary().round(4).to_string())
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    found.plot().figure.savefig(folder / "trade_off.png", dpi=100)
    print(f"wrote {folder / 'trade_off.png'}")


if __name__ == "__main__":
    main()

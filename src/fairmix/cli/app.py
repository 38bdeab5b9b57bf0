"""The commands: what they are called, what they take, and what is imported when one runs."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fairmix._version import __version__
from fairmix.cli.options import OF_FILES, OF_TABLES, with_settings
from fairmix.cli.settings import Settings
from fairmix.cli.telling import (
    DONE,
    FAILED,
    INTERRUPTED,
    USAGE,
    CommandError,
    Teller,
    in_options,
    sentence,
    tell_error,
)

app = typer.Typer(
    name="fairmix",
    help="Fair Bayesian clustering: every sensitive group has the same share in every cluster.",
    epilog="Begin with: fairmix demo, or fairmix fit data.csv --sensitive COLUMN",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RUN = "The run"
#: Sweeps of a comparison, for a first look.
FEW_SWEEPS = 150
Data = Annotated[Path | None, typer.Argument(help="The table.", show_default=False)]
Run = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")]
Config = Annotated[
    Path | None,
    typer.Option(help="Settings from a TOML file; options overrule it.", rich_help_panel=RUN),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="The answer as JSON, for scripts.", rich_help_panel=RUN)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Nothing but the answer.", rich_help_panel=RUN)
]


def run(arguments: list[str]) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : list of str
        What follows the name of the program.

    Returns
    -------
    int
        The exit code.
    """
    try:
        code = app(arguments, prog_name="fairmix", standalone_mode=False)
    except CommandError as stop:
        tell_error(str(stop))
        return stop.code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if hasattr(error, "format_message"):  # of typer
            tell_error(f"{sentence(error.format_message())} See fairmix --help.")
            return USAGE
        if os.environ.get("FAIRMIX_TRACEBACK"):
            raise
        return _tell_of(error)
    if code == INTERRUPTED:  # some versions of typer catch it
        tell_error("interrupted; nothing was written.")
    return code if isinstance(code, int) else DONE


def _tell_of(error: Exception) -> int:
    """Tell of an error of the library, which is about what was passed, or of any other."""
    if isinstance(error, (ValueError, TypeError)):
        tell_error(in_options(str(error)))
        return USAGE
    if isinstance(error, MemoryError):
        tell_error("there is not enough memory; take fewer --draws or --chains, or fewer rows.")
        return FAILED
    what = str(error) or type(error).__name__
    is_known = isinstance(error, (OSError, ImportError))
    where = "(unexpected; with FAIRMIX_TRACEBACK=1 it says where, for a report)"
    tell_error(what if is_known else f"{what} {where}")
    return FAILED


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"fairmix {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    pass


def _settings(data: Path | None, config: Path | None, given: dict[str, Any]) -> Settings:
    """Give the settings: options, before those of a file, before defaults."""
    settings = Settings() if config is None else Settings.of_file(config)
    if data is not None:
        given = given | {"data": str(data)}
    settings = settings.with_given(given)
    if not settings.data:
        raise CommandError(
            "which table? Name its file, such as fairmix fit data.csv --sensitive sex"
        )
    return settings


def _need_sensitive(settings: Settings) -> None:
    if not settings.sensitive:
        raise CommandError(
            "--sensitive names the column whose groups are to have the same share in every "
            f"cluster; fairmix check {settings.data} shows the columns."
        )


def _teller(is_quiet: bool, as_json: bool) -> Teller:
    teller = Teller(is_quiet, as_json)
    teller.take_warnings()
    return teller


@app.command()
@with_settings()
def fit(
    given: dict[str, Any],
    data: Data = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to write to; called like the table if left out.", rich_help_panel=RUN
        ),
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Cluster a table fairly, and write labels, a report and the model into a folder."""
    settings = _settings(data, config, given)
    _need_sensitive(settings)
    from fairmix.cli import fitting

    command = shlex.join(["fairmix", *sys.argv[1:]])
    return fitting.fit(settings, out, command, _teller(quiet, as_json))


@app.command()
@with_settings()
def check(
    given: dict[str, Any],
    data: Data = None,
    config: Config = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Say what fit would do, and all problems of a table at once. It takes the options of fit."""
    settings = _settings(data, config, given)
    from fairmix.cli.inspection import inspect
    from fairmix.cli.reading import read_table
    from fairmix.cli.understanding import as_plain, describe

    teller = _teller(quiet, as_json)
    found = inspect(read_table(settings), settings)
    teller.answer(describe(found), as_plain(found))
    for text in found.warned:
        teller.warn(text)
    for problem in found.problems:
        tell_error(sentence(problem))
    if not found.problems and found.groups is not None:
        teller.note("Nothing stands against fairmix fit.")
    return USAGE if found.problems else DONE


@app.command()
def resume(
    run: Run,
    draws: Annotated[int | None, typer.Option(help="Draw so many, not fewer than asked.")] = None,
    max_minutes: Annotated[
        float | None, typer.Option(help="End after so many minutes; inf is no limit.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Go on with a run that was stopped or killed, as if it had never been."""
    from fairmix.cli.run_folder import RunFolder

    folder = RunFolder(run)
    teller = _teller(quiet, as_json)
    if not folder.config.is_file():
        raise CommandError(f"{run} is no folder of a run; fairmix fit makes one.")
    if not folder.is_under_way:
        text = f"{run} has all that was asked for; there is nothing to go on with."
        teller.answer(text, {"out": str(run), "is_whole": True})
        return DONE
    given = {"draws": draws, "max_minutes": max_minutes}
    settings = Settings.of_file(folder.config).with_given(given)
    from fairmix.cli import fitting

    return fitting.fit(settings, run, f"fairmix resume {folder.as_typed}", teller)


@app.command()
def report(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(help="The page; report.html of the run if left out.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Make the page of a run anew from its summary.json."""
    import json

    from fairmix.cli.run_folder import RunFolder, refusal_to_write

    folder = RunFolder(run)
    page = out or folder.report
    try:
        summary = json.loads(folder.summary.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CommandError(f"{folder.summary} does not exist; fairmix fit makes it.") from None
    except ValueError as error:
        raise CommandError(f"{folder.summary} is damaged ({error}); fit again.") from None
    from fairmix.report import write_report

    try:
        write_report(summary, page)
    except OSError as error:
        raise refusal_to_write(page, error) from None
    _teller(quiet, as_json).answer(f"open {page}", {"out": str(page)})
    return DONE


@app.command()
@with_settings(OF_FILES)
def predict(
    run: Run,
    data: Annotated[Path, typer.Argument(help="The table with the new rows.")],
    given: dict[str, Any],
    out: Annotated[
        Path | None, typer.Option(help="File of labels; standard output if left out.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="batch: fair for the list; prices: row by row; or auto.")
    ] = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Give new rows fair labels, by the model of a run."""
    settings = _settings(data, None, given)
    from fairmix.cli.predicting import predict as label
    from fairmix.cli.run_folder import RunFolder

    return label(RunFolder(run), settings, out, method, _teller(quiet, as_json))


@app.command()
@with_settings(
    (*OF_TABLES, "family", "k", "warmup", "draws", "max_minutes", "seed", "jobs"),
    told={
        "k": "Number of clusters for methods that must be told. What FBC finds if left out.",
        "warmup": f"Sweeps that are thrown away, of methods that sample. Default: {FEW_SWEEPS}.",
        "draws": f"Sweeps after the warm-up, of methods that sample. Default: {FEW_SWEEPS}.",
        "max_minutes": "Minutes that all may take; what does not fit in is left out.",
        "seed": "The first seed. Default: 0.",
        "jobs": "Methods at the same time; -1 is one a processor. Default: -1.",
    },
)
def compare(
    data: Data,
    given: dict[str, Any],
    methods: Annotated[
        list[str] | None,
        typer.Option(help="A method, such as FBC or k-means (or again); all if left out."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Runs of each setting.")] = 1,
    out: Annotated[Path | None, typer.Option(help="CSV file for all runs.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Cluster a table by other fair and plain methods, too, side by side."""
    few = {"draws": FEW_SWEEPS, "warmup": FEW_SWEEPS, "missing": "error"}
    settings = _settings(data, None, few | {n: v for n, v in given.items() if v is not None})
    _need_sensitive(settings)
    from fairmix.cli.comparing import compare_methods

    return compare_methods(settings, tuple(methods or ()), seeds, out, _teller(quiet, as_json))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder.")] = Path("fairmix-demo"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Fit 1,000 people of a census that comes with fairmix, and say what to open."""
    from fairmix.cli.demonstration import demonstrate

    return demonstrate(out, _teller(quiet, as_json))


@app.command(name="compile")
def compile_samplers(
    families: Annotated[
        list[str] | None,
        typer.Argument(help="gaussian, or a mix: gaussian+categorical. All that auto mixes."),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Compile the sampler now, so that no fit has to wait for it."""
    import itertools

    from fairmix.sampler.ahead import compile as fill_cache

    chosen = [tuple(text.split("+")) for text in families or ()]
    if not chosen:
        of_auto = ("gaussian", "poisson", "bernoulli", "categorical")
        chosen = [c for n in range(1, 5) for c in itertools.combinations(of_auto, n)]
    teller = _teller(quiet, False)
    for number, mix in enumerate(chosen, start=1):
        teller.note(f"{number} of {len(chosen)}: {' + '.join(mix)}")
        fill_cache(mix[0] if len(mix) == 1 and families else mix)
    return DONE


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="The experiment, or all; without it, a list.")
    ] = None,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="A few rows and short chains: does all of it work?")
    ] = False,
    is_anew: Annotated[
        bool, typer.Option("--anew", help="Begin anew, instead of going on where it ended.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of results; experiments/results/ if left out."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Run an experiment of the paper, or all, from the folder experiments/ of the source tree."""
    from fairmix.cli.experiments import reproduce as run_experiments

    return run_experiments(name, is_quick, is_anew, out, Teller(quiet, as_json))

"""scikit-learn's callbacks: a fit is a task, its chains are subtasks, parts of chains are theirs.

The interface is that of scikit-learn 1.9 (:mod:`sklearn.callback`), where it is experimental. Only
fits that have callbacks import it: it imports rich, and older versions have none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

#: A chain has so many parts, each a task that callbacks hear of and may stop at.
N_PARTS = 100


def set_callbacks(estimator: Any, callbacks: tuple[Any, ...]) -> None:
    """Set an estimator's callbacks.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    callbacks : tuple
        The callbacks.
    """
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError as error:
        raise ImportError(
            "set_callbacks needs sklearn.callback, which scikit-learn has from version 1.9 on; "
            "run pip install --upgrade scikit-learn."
        ) from error
    CallbackSupportMixin.set_callbacks(estimator, *callbacks)


def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Let callbacks hear of a fit, and end what they have begun however it ends.

    Parameters
    ----------
    fit : callable
        The method.

    Returns
    -------
    callable
        The method; without callbacks it does just what it did.
    """

    @functools.wraps(fit)
    def fit_and_tell(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if not _has_callbacks(estimator):
            return fit(estimator, *args, **kwargs)
        from sklearn.callback import with_callbacks as managed

        return managed(fit)(estimator, *args, **kwargs)

    return fit_and_tell


class FitTask:
    """A fit as a tree of tasks; a ``sampler.progress.Listener``.

    Parameters
    ----------
    estimator : estimator
        What is fitted.
    context : CallbackContext
        Of the fit.
    X : data frame or array-like
        The data.
    metadata : dict
        What else was passed to ``fit``.
    """

    def __init__(self, estimator: Any, context: Any, X: Any, metadata: dict[str, Any]) -> None:
        self._estimator = estimator
        self._context = context
        self._told = {"X": X, "metadata": metadata}
        self._chains: dict[int, _ChainTask] = {}
        context.call_on_fit_task_begin(estimator=estimator, **self._told)

    @classmethod
    def of(cls, estimator: Any, X: Any, metadata: dict[str, Any]) -> Self | None:
        """Begin the task of a fit.

        Parameters
        ----------
        estimator : estimator
            What is fitted; it has ``n_chains``.
        X : data frame or array-like
            The data.
        metadata : dict
            What else was passed to ``fit``.

        Returns
        -------
        FitTask or None
            None if there are no callbacks.
        """
        if not _has_callbacks(estimator):
            return None
        from sklearn.callback import CallbackSupportMixin

        context = CallbackSupportMixin._init_callback_context(
            estimator, max_subtasks=estimator.n_chains, sequential_subtasks=False
        )
        return cls(estimator, context, X, metadata)

    def begin(self, number: int) -> None:
        """Hear that a chain begins.

        Parameters
        ----------
        number : int
            The chain.
        """
        context = self._context.subcontext("chain", task_id=number, max_subtasks=N_PARTS)
        self._chains[number] = _ChainTask(self._estimator, context, self._told)

    def advance(self, number: int, share: float) -> bool:
        """Hear which share of its sweeps a chain has made.

        Parameters
        ----------
        number : int
            The chain.
        share : float
            From 0 to 1.

        Returns
        -------
        bool
            Whether a callback wants all to stop.
        """
        return self._chains[number].advance(int(N_PARTS * share))

    def end(self, number: int) -> bool:
        """Hear that a chain has ended.

        Parameters
        ----------
        number : int
            The chain.

        Returns
        -------
        bool
            Whether a callback wants all to stop.
        """
        return self._chains[number].end()

    def finish(self) -> None:
        """End the task: the estimator is fitted."""
        self._context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes={}, **self._told
        )


class _ChainTask:
    """A chain, and those of its parts that have begun."""

    def __init__(self, estimator: Any, context: Any, told: dict[str, Any]) -> None:
        self._context = context
        self._told = {"estimator": estimator, **told}
        self._part: Any = None
        self._n_ended = 0
        context.call_on_fit_task_begin(**self._told)
        self._begin_part()

    def advance(self, n_ended: int) -> bool:
        """End parts until so many have ended."""
        stops = False
        while self._n_ended < n_ended:
            stops |= self._end_part()
            if self._n_ended < N_PARTS:
                self._begin_part()
        return stops

    def end(self) -> bool:
        """End the chain, and the part that it is in."""
        stops = self._end_part() if self._part is not None else False
        return stops | bool(self._context.call_on_fit_task_end(**self._told))

    def _begin_part(self) -> None:
        self._part = self._context.subcontext("part")
        self._part.call_on_fit_task_begin(**self._told)

    def _end_part(self) -> bool:
        part, self._part = self._part, None
        self._n_ended += 1
        return bool(part.call_on_fit_task_end(**self._told))


def _has_callbacks(estimator: Any) -> bool:
    """Tell whether callbacks were set, or another estimator has lent its own for this fit."""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")

"""`GraphGP`: regression on the nodes of a graph by a Gaussian process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from grfpp._checks import finite, is_auto, one_of, positive, truth, whole
from grfpp._memory import require_bytes
from grfpp._parallel import one_blas_thread
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.gp.covariance import (
    Family,
    Workspace,
    degree_roots,
    require_covariance,
    spectral_gap,
)
from grfpp.gp.plan import MAX_COLUMNS, choosing_part, plan_gp, predicted_fill
from grfpp.gp.posterior import BLOCK, Observations, Posterior
from grfpp.gp.selection import (
    Given,
    Parameters,
    Profile,
    Quantities,
    averaged,
    estimate,
    profile_of,
    select,
    unit_of,
)
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.options import drawn_seed
from grfpp.typing import FloatArray, IntArray

#: What to do with directed graphs.
_UNDIRECTED = "use Graph(graph, symmetrize='sum'), on the command line --undirected sum"
#: Largest number of observed nodes that the unit of the outputscale is defined by.
_MAX_UNIT_NODES = 256
#: Smallest width that is tried: the kernel's range is below one edge.
_MIN_WIDTH = 0.25
#: Largest number of observed nodes that losses are compared on, unless on as many of a part.
_MAX_JUDGED = 400
#: Largest width that is tried, times the spectral gap: beyond, only the outputscale changes.
_WIDEST = 100.0
#: Largest ratio of the kernel's values for constant functions and for the smoothest others: beyond,
#: rounding shows where there is no noise.
_MAX_CONTRAST = 1e6
#: Coefficient of variation of the roots of degrees up to which ``"sym"`` is not tried: there it is
#: nearly ``"rw"``.
_EVEN_DEGREES = 0.2
#: Entries of the triangular factor per node, up to which factorisations are cheap: a million nodes
#: of a grid have some 50, social networks hundreds.
_MAX_FILL = 100.0
#: Observed nodes times weights, up to which polynomials of Matérn kernels take some ten seconds.
_MAX_ENTRIES = 1e8
#: Observed nodes times entries of the factors, up to which higher powers are tried by default: a
#: second for each width.
_MAX_SOLVES = 2e8
#: Logarithm of the prior of ``"sym"`` over that of ``"rw"``: few observations cannot tell them
#: apart, and many overrule this.
_LOG_PRIOR_OF_SYM = -3.0
#: Largest width, which bounds the condition number of systems.
_MAX_WIDTH = 1e8
#: Numbers in a block of right-hand sides: 64 MB.
_BLOCK_NUMBERS = 1 << 23


@dataclass(frozen=True, eq=False)
class _Component:
    """The posterior of one width and noise, and its share in averages."""

    posterior: Posterior
    share: float
    #: One per output: the mean, the outputscale's mode, scale parameter and degrees of freedom.
    mean: FloatArray
    outputscale: FloatArray
    dof: float
    #: ``1ᵀ A^-1 1``; infinite where the mean is given.
    ones: float

    @cached_property
    def fields(self) -> FloatArray:
        """The mean at all nodes, and in the last column ``1 − C[:, S] A^-1 1``."""
        seen = self.posterior.seen
        right = np.column_stack([seen.values - self.mean, np.ones(len(seen.nodes))])
        field = self.posterior.condition(right).field
        field[:, :-1] += self.mean
        field[:, -1] = 1 - field[:, -1]
        return field

    def leave_one_out(self, positions: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Errors and variances of observed nodes, all or some, given the others."""
        seen = self.posterior.seen
        at = np.arange(len(seen.nodes)) if positions is None else positions
        right = np.column_stack([seen.values - self.mean, np.ones(len(seen.nodes))])
        weights = self.posterior.condition(right).weights[at]
        diagonal = self.posterior.inverse_diagonal(at) - np.square(weights[:, -1]) / self.ones
        # A single observation says nothing about itself.
        diagonal = np.maximum(diagonal, np.finfo(float).tiny)[:, None]
        return weights[:, :-1] / diagonal, self.variance_factor / diagonal

    @property
    def variance_factor(self) -> FloatArray:
        """The mean of the outputscale's distribution."""
        excess = 1.0 if np.isinf(self.dof) else self.dof / (self.dof - 2)
        return self.outputscale * excess

    def draws(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Draws at all nodes, of shape ``(n_nodes, n_outputs, n)``."""
        posterior, seen = self.posterior, self.posterior.seen
        p = len(self.mean)
        prior, noisy = posterior.prior_draws(rng, n * p)
        sizes = np.repeat(self.outputscale[:, None], n, axis=1)
        if np.isfinite(self.dof):
            sizes = sizes * self.dof / rng.chisquare(self.dof, size=(p, n))
        root = np.sqrt(sizes).reshape(-1)
        residual = np.repeat(seen.values - self.mean, n, axis=1) - root * noisy
        solved = posterior.condition(residual)
        field = root * prior + solved.field
        if np.isfinite(self.ones):
            field += self.fields[:, -1:] * (solved.weights.sum(axis=0) / self.ones)
        return field.reshape(-1, p, n) + self.mean[:, None]


@dataclass(eq=False, repr=False)
class GraphGP(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """A Gaussian process on the nodes of a graph.

    The function at the nodes has a constant mean and the covariance ``outputscale · C``. By default
    ``C`` is a Matérn kernel ``R^-1 (I + t L)^-ν R^-1`` with ``L = I − D^-1/2 A D^-1/2`` and ``R``
    the roots of the degrees, scaled so that its mean variance at observed nodes is one. Parameters
    that are not given are chosen by the marginal likelihood with a weak prior, and predictions are
    averages over the powers, widths and noises that the observations leave open.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, undirected, with weights that are not
        normalised. Kernels of directed graphs are no covariances in general; those of ``A + Aᵀ``
        are: ``Graph(graph, symmetrize="sum")``.
    kernel
        ``"matern"`` for ``(I + t L)^-power``, ``"diffusion"`` for ``exp(−t L)``; or a kernel that
        is a covariance, such as ``grfpp.Diffusion(5.0)``, or its text form, which is kept as it is.
        ``"auto"`` is ``"matern"``, but ``"diffusion"`` on large expanders such as social networks:
        it takes a fifth of the time there, and its intervals are too narrow for rough functions.
    power
        The exponent ``ν`` of ``"matern"``; of several, predictions are averages. ``"auto"`` is 2,
        and for up to 1,000 observed nodes 2 and 4, unless `width` or `method` is given.
    normalization
        ``"rw"`` for ``C ∝ D^-1/2 g(D^-1/2 A D^-1/2) D^-1/2``, whose smoothest functions are
        constant; ``"sym"`` for ``C ∝ g(D^-1/2 A D^-1/2)``, whose smoothest function is the root of
        the degree; ``None`` for ``C ∝ g(A)``, with a spectral radius of at most 1. ``"auto"`` is
        ``"rw"``, and where degrees are uneven an average with ``"sym"``, which has 1/20 of the
        prior.
    width, noise, outputscale, mean
        The width ``t``, the variance of observations, the factor of the covariance (both in squared
        units of the observations) and the constant mean; ``None`` where they are chosen.
    noise_ratio
        The noise over the outputscale, instead of `noise`; ``None`` where it is chosen.
    scale
        Factor of the normalised weights.
    loss
        A function of predicted and true values that gives a loss for each row: parameters are those
        of the least mean loss of observations that are predicted from the others, in place of the
        marginal likelihood.
    method
        How linear systems are solved: ``"columns"`` by the dense covariance of observed nodes,
        ``"precision"`` by a factorisation of the sparse posterior precision; ``"auto"`` by
        predicted cost.
    random_state
        Seed of draws.
    n_jobs
        Threads of products; the result is the same for any number of them.

    Attributes
    ----------
    width_, noise_ratio_, noise_, outputscale_, mean_
        The parameters of highest posterior density; the latter three are arrays for several
        outputs.
    kernel_, normalization_
        The kernel of this width, and the normalisation of its weights.
    log_marginal_likelihood_
        Logarithm of the normal density of the observations with these parameters.
    loo_
        Leave-one-out log predictive densities and squared errors, one per observed node and output,
        with these parameters.
    plan_
        The method, with its reason and the predicted costs.
    components_
        The families of kernels, widths and noises that predictions average over, with their shares.
    graph_, n_features_in_
        The graph; 1, the column of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from grfpp.datasets import grid
    >>> from grfpp.gp import GraphGP
    >>> rows, columns = np.divmod(np.arange(400), 20)
    >>> height = np.sin(rows / 4) + np.cos(columns / 5)
    >>> rng = np.random.default_rng(0)
    >>> seen = rng.choice(400, size=60, replace=False)
    >>> gp = GraphGP(grid(20, 20)).fit(seen, height[seen] + 0.1 * rng.standard_normal(60))
    >>> mean, std = gp.predict(return_std=True)
    >>> bool(np.abs(mean - height).mean() < 0.2)
    True
    >>> gp.sample([0, 1], n_samples=3, random_state=0).shape
    (3, 2)

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006.
    V. Borovitskiy et al., Matérn Gaussian processes on graphs, 2021.
    F. Lindgren, H. Rue and J. Lindström, An explicit link between Gaussian fields and Gaussian
    Markov random fields, 2011.
    """

    graph: Any
    _: KW_ONLY
    kernel: Any = "auto"
    power: float | Sequence[float] | str = "auto"
    normalization: str | None = "auto"
    width: float | None = None
    noise: float | None = None
    outputscale: float | None = None
    mean: float | None = None
    noise_ratio: float | None = None
    scale: float = 1.0
    loss: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    method: str = "auto"
    random_state: Any = None
    n_jobs: int = -1

    @one_blas_thread()
    def fit(
        self, nodes: Any, y: npt.ArrayLike, noise_variance: npt.ArrayLike | None = None
    ) -> GraphGP:
        """Choose the parameters, and condition on observations.

        Parameters
        ----------
        nodes
            The observed nodes, by index or name, of shape ``(n,)`` or ``(n, 1)``; they may repeat.
        y
            The observations, of shape ``(n,)`` or ``(n, n_outputs)``. Outputs share width and the
            ratio of noise to outputscale.
        noise_variance
            The variance of each observation, in squared units of `y`, instead of `noise`.
        """
        graph, given = as_graph(self.graph), self._given()
        positions = graph.names.numbers(_column(nodes))
        values = _values(y, len(positions))
        self._is_flat = values.ndim == 1
        table = values.reshape(len(positions), -1)
        variances = np.ones(len(positions))
        if noise_variance is not None:
            given, variances = _with_variances(noise_variance, len(positions), given)
        self.graph_, self.n_features_in_ = graph, 1
        self._seen = seen = Observations.of(positions, table, variances)
        if not np.ptp(table, axis=0).any() and not given.is_complete:
            given = self._without_variation(given)
        n_seen = len(seen.nodes)
        families = self._affordable(self.families(graph, n_seen), n_seen)
        self.plan_ = plan_gp(families[-1], n_seen, self.method)
        is_fixed = given.fixed_ratio is not None and not (self._has_width and self.width is None)
        part = (
            None
            if is_fixed and len(families) == 1
            else choosing_part(graph, seen, MAX_COLUMNS if self.loss is None else _MAX_JUDGED)
        )
        if part is None:
            self.components_ = self._select(families, seen, given)
        else:  # many observations leave little open
            W = part[0] if self.normalization is None else part[0].normalized("sym", self.scale)
            rows = self._select(_families_on(part[0], W, families), part[1], given)
            self.components_ = [max(rows, key=lambda row: row.share)._replace(share=1.0)]
        self._components = self._condition(families, seen, given)
        families[0].forget_blocks()
        best = max(self._components, key=lambda component: component.share)
        self._best = best
        self.width_ = best.posterior.prior.width if self._has_width else None
        family = best.posterior.prior.family
        self.kernel_ = family.kernel_of(best.posterior.prior.width)
        self.normalization_ = family.normalization
        shape = (lambda a: float(a[0])) if self._is_flat else np.asarray
        self.mean_, self.outputscale_ = shape(best.mean), shape(best.outputscale)
        self.noise_ = shape(best.outputscale * best.posterior.ratio)
        self.noise_ratio_ = best.posterior.ratio
        return self

    @property
    def _has_width(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel in {"auto", "matern", "diffusion"}

    def _given(self) -> Given:
        mean = None if self.mean is None else finite(self.mean, "mean")
        noise = None if self.noise is None else positive(self.noise, "noise")
        size = None if self.outputscale is None else positive(self.outputscale, "outputscale")
        ratio = None if self.noise_ratio is None else positive(self.noise_ratio, "noise_ratio")
        if ratio is not None and noise is not None:
            raise InputError("must not be given with noise_ratio", argument="noise")
        return Given(mean, size, noise, ratio)

    def families(self, graph: Graph, n_observed: int = 0) -> list[Family]:
        """The kernels of a graph, for every normalisation and power."""
        if graph.is_directed:
            problem = "must be undirected, since kernels of directed graphs are no covariances"
            raise InputError(problem, argument="graph", advice=_UNDIRECTED)
        choice = one_of(self.normalization, "normalization", ("auto", "rw", "sym", None))
        W = graph.normalized(None if choice is None else "sym", self.scale)
        kernel = self.kernel if self._has_width else kernel_of(self.kernel)
        if isinstance(kernel, Kernel):
            kernel.check_converges(W)
            require_covariance(kernel, W)
        elif W.spectral_radius() > 1 + 1e-6:
            problem = f"must have a spectral radius of at most 1, found {W.spectral_radius():.4g}"
            raise InputError(problem, argument="graph", advice="use normalization='rw'")
        if is_auto(kernel):
            is_open = is_auto(self.power) and is_auto(self.method)
            is_large = n_observed * len(W.indices) > _MAX_ENTRIES
            is_dense = is_open and is_large and predicted_fill(W, 1) > _MAX_FILL * graph.n_nodes
            kernel = "diffusion" if is_dense else "matern"
        powers: Any = self.power
        if is_auto(powers):
            is_open = self.width is None and self.method == "auto"
            powers = (2, 4) if is_open and n_observed <= MAX_COLUMNS else (2,)
        powers = [positive(power, "power") for power in np.atleast_1d(powers)]
        if not powers:
            raise InputError("must not be empty", argument="power")
        powers = powers if kernel == "matern" else powers[:1]
        log_priors = {choice: 0.0}
        if choice in {"auto", "rw"}:
            log_priors = {"rw": 0.0}
            roots = degree_roots(graph)
            if choice == "auto" and roots.std() > _EVEN_DEGREES * roots.mean():
                log_priors["sym"] = _LOG_PRIOR_OF_SYM
        first = Family(W, np.ones(graph.n_nodes), kernel, powers[0], n_jobs=self.n_jobs)
        families = [
            replace(first, power=power, normalization=name, log_prior=log_prior)
            for name, log_prior in log_priors.items()
            for power in powers
        ]
        return _families_on(graph, W, families)

    def _affordable(self, families: list[Family], n_observed: int) -> list[Family]:
        """All, or those of the first power where others are by default and take too many solves."""
        is_open = is_auto(self.power) and len({family.power for family in families}) > 1
        if not is_open or not plan_gp(families[0], n_observed, self.method).factorize:
            return families
        if n_observed * families[0].elimination.n_entries <= _MAX_SOLVES:
            return families
        return [family for family in families if family.power == families[0].power]

    def _without_variation(self, given: Given) -> Given:
        """Parameters where the observations show no variation: nothing can be chosen."""
        problem = "the observations are all equal or only one: outputscale and noise are not chosen"
        advice = "observe more nodes, or pass noise and outputscale"
        warn_user(InputWarning(problem, advice=advice))
        size = given.outputscale or (1.0 if given.noise is None else 10 * given.noise)
        if given.ratio is None and given.noise is None:
            given = given._replace(ratio=0.1)
        return given._replace(outputscale=size)

    def _select(
        self, families: Sequence[Family], seen: Observations, given: Given
    ) -> list[Parameters]:
        """Powers, widths and noises with their shares."""
        n, factorize = len(seen.nodes), self.plan_.factorize
        at = np.unique(np.linspace(0, n - 1, _MAX_UNIT_NODES).astype(int))
        width = None if self.width is None else positive(self.width, "width")
        is_open = self._has_width and width is None
        fixed = 0.0 if width is None else width
        ratio = given.fixed_ratio

        def profile(family: Family, width: float) -> Profile:
            prior = family.covariance(width, factorize=factorize)
            unit = self._unit(prior.block(seen.nodes)[np.ix_(at, at)])
            return profile_of(prior, seen, unit, given, self.loss)

        if not is_open and ratio is not None and len(families) == 1:
            unit = families[0].covariance(fixed, factorize=factorize).block(seen.nodes[at])
            return [Parameters(0, fixed, *self._unit(unit), ratio, 1.0)]
        by_family: list[list[Profile]] = []
        best: dict[str | None, Profile] = {}  # by normalisation
        for family in families:
            rival = max((found.total for found in best.values()), default=-np.inf)
            near = best[family.normalization].width if family.normalization in best else None
            bounds = self._width_bounds(family) if is_open else (fixed, fixed)
            options = *bounds, n, factorize, rival, near
            by_family.append(select(partial(profile, family), *options))
            best.setdefault(family.normalization, max(by_family[-1], key=lambda p: p.total))
        return averaged(by_family)

    def _width_bounds(self, family: Family) -> tuple[float, float]:
        """Smallest and largest width that are tried."""
        widest = min(_WIDEST, _MAX_CONTRAST ** (1 / family.power))
        if family.kernel == "diffusion":
            widest = np.log(_MAX_CONTRAST)
        return _MIN_WIDTH, min(_MAX_WIDTH, widest / max(spectral_gap(family.W), 1e-12))

    def _unit(self, block: FloatArray) -> tuple[float, float]:
        """The factor of the covariance, and its variance between some observed nodes."""
        return unit_of(block)

    def _condition(
        self, families: Sequence[Family], seen: Observations, given: Given
    ) -> list[_Component]:
        """The posterior of each of the chosen parameters."""
        components, conditioners = [], {}
        for chosen in self.components_:
            key = chosen.family, chosen.width
            if key not in conditioners:
                family = families[chosen.family]
                prior = family.covariance(chosen.width, factorize=self.plan_.factorize)
                conditioners = {key: self.plan_.conditioner(prior, chosen.scale, seen)}
            posterior = conditioners[key](chosen.ratio)
            quantities, ratios = Quantities.of_posterior(posterior), np.array([chosen.ratio])
            found = estimate(quantities, seen, ratios, chosen.variance, given)
            ones = np.inf if given.mean is not None else float(quantities.ones[0])
            sizes = found.mean[:, 0], found.outputscale[:, 0], found.dof, ones
            components.append(_Component(posterior, chosen.share, *sizes))
        return components

    @property
    def log_marginal_likelihood_(self) -> float:
        """Logarithm of the normal density of the observations."""
        check_is_fitted(self, "components_")
        best, seen, ratio = self._best, self._seen, self._best.posterior.ratio
        residual = seen.values - best.mean
        weights = best.posterior.condition(residual).weights
        squares = np.einsum("ij,ij->j", residual, weights) + seen.within / ratio
        log_determinant = best.posterior.log_determinant() + seen.log_jacobian
        log_determinant += (seen.n - len(seen.nodes)) * np.log(ratio)
        terms = seen.n * np.log(2 * np.pi * best.outputscale) + log_determinant
        return float(-0.5 * (terms + squares / best.outputscale).sum())

    @property
    def loo_(self) -> dict[str, FloatArray]:
        """Leave-one-out predictions of the observed nodes.

        References
        ----------
        C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006,
        section 5.4.2; O. Dubrule, Cross validation of kriging in a unique neighborhood, 1983.
        """
        check_is_fitted(self, "components_")
        errors, variances = self._best.leave_one_out()
        density = -0.5 * (np.log(2 * np.pi * variances) + np.square(errors) / variances)
        std = np.sqrt(variances)
        squares = np.square(errors)
        return {"log_density": density, "squared_error": squares, "error": errors, "std": std}

    def held_out_errors(
        self, max_nodes: int
    ) -> Iterator[tuple[Kernel, float, IntArray, FloatArray]]:
        """Errors of observed nodes that are predicted from the others.

        For each kernel and ratio of noise that predictions average over: these two, positions of
        observed nodes in sorted order, and a row of errors for each.
        """
        n = len(self._seen.nodes)
        positions = np.unique(np.linspace(0, n - 1, max_nodes).astype(int))
        for component in self._components:
            prior, ratio = component.posterior.prior, component.posterior.ratio
            yield (
                prior.family.kernel_of(prior.width),
                ratio,
                positions,
                component.leave_one_out(positions)[0],
            )

    @one_blas_thread()
    def predict(
        self,
        nodes: Any = None,
        *,
        return_std: bool = False,
        return_cov: bool = False,
        include_noise: bool = False,
    ) -> Any:
        """The mean at nodes, with standard deviations or the joint covariance.

        In components of the graph without observations these are the prior's.

        Parameters
        ----------
        nodes
            Nodes by index or name; all nodes if not given.
        return_std, return_cov
            Whether to return standard deviations, of the shape of the mean, or the covariance, with
            an axis more.
        include_noise
            Whether they are those of new observations, with the noise.
        """
        check_is_fitted(self, "components_")
        targets = self._nodes(nodes)
        parts = [component.fields[targets] for component in self._components]
        shares = np.array([component.share for component in self._components])
        mean = np.tensordot(shares, [part[:, :-1] for part in parts], 1)
        if truth(return_cov, "return_cov"):
            return self._shaped(mean), self._covariance(targets, mean, include_noise)
        if not truth(return_std, "return_std"):
            return self._shaped(mean)
        variance = np.zeros_like(mean)
        distinct, at = np.unique(targets, return_inverse=True)
        variances = self._variances(distinct)
        for component, part, v in zip(self._components, parts, variances, strict=True):
            sizes = component.variance_factor
            total = v[at] + np.square(part[:, -1]) / component.ones
            noise = component.posterior.ratio if truth(include_noise, "include_noise") else 0.0
            variance += component.share * (sizes * (total[:, None] + noise))
            variance += component.share * np.square(part[:, :-1] - mean)
        return self._shaped(mean), self._shaped(np.sqrt(variance))

    def _variances(self, nodes: IntArray) -> list[FloatArray]:
        """Variances at distinct nodes for an outputscale of one, one array per component."""
        size = max(BLOCK, len(self._seen.nodes))
        blocks = np.split(nodes, range(size, len(nodes), size))
        # All components of a width share its covariance of a block.
        rows = [[c.posterior.variances(block) for c in self._components] for block in blocks]
        return [np.concatenate(column) for column in zip(*rows, strict=True)]

    def _covariance(self, targets: IntArray, mean: FloatArray, include_noise: bool) -> FloatArray:
        """The joint covariance, of shape ``(n, n)`` or ``(n, n, n_outputs)``."""
        n, p = mean.shape
        require_bytes(8 * (p + 4) * n * n, f"a covariance of {n} nodes")
        distinct, at = np.unique(targets, return_inverse=True)
        result = np.zeros((n, n, p))
        for component in self._components:
            part = component.fields[targets]
            block = component.posterior.covariance(distinct)[np.ix_(at, at)]
            block = block + np.outer(part[:, -1], part[:, -1]) / component.ones
            if truth(include_noise, "include_noise"):
                block = block + component.posterior.ratio * np.eye(n)
            between = part[:, :-1] - mean
            result += component.share * component.variance_factor * block[:, :, None]
            result += component.share * between[:, None] * between[None]
        return result[:, :, 0] if self._is_flat else result

    @one_blas_thread()
    def sample(self, nodes: Any = None, n_samples: int = 1, random_state: Any = None) -> FloatArray:
        """Draws of the function, of shape ``(n_samples, n_nodes)`` or with an axis of outputs.

        Parameters
        ----------
        nodes
            Nodes by index or name; all nodes if not given.
        n_samples
            Number of draws.
        random_state
            Seed; that of the constructor if not given.
        """
        check_is_fitted(self, "components_")
        n, targets = whole(n_samples, "n_samples", 1), self._nodes(nodes)
        p = self._seen.values.shape[1]
        require_bytes(8 * n * len(targets) * p, f"{n} draws at {len(targets)} nodes")
        seed = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(drawn_seed() if seed is None else seed)
        shares = [component.share for component in self._components]
        counts = rng.multinomial(n, np.array(shares) / sum(shares))
        result, row = np.empty((n, len(targets), p)), 0
        size = max(1, _BLOCK_NUMBERS // (self.graph_.n_nodes * p))
        for component, count in zip(self._components, counts, strict=True):
            for first in range(0, count, size):
                some = min(size, count - first)
                result[row : row + some] = component.draws(rng, some)[targets].transpose(2, 0, 1)
                row += some
        rng.shuffle(result)  # draws of one component are neighbours so far
        return result[:, :, 0] if self._is_flat else result

    def _nodes(self, nodes: Any) -> IntArray:
        names = self.graph_.names
        return np.arange(self.graph_.n_nodes) if nodes is None else names.numbers(_column(nodes))

    def _shaped(self, table: FloatArray) -> FloatArray:
        return table[:, 0] if self._is_flat else table


def _families_on(graph: Graph, W: Graph, families: Sequence[Family]) -> list[Family]:
    """The same kernels on a graph and its normalised weights, which share what they compute."""
    ones, roots = np.ones(graph.n_nodes), degree_roots(graph)
    first = replace(families[0], W=W, roots=ones, _shared=Workspace())
    return [
        replace(
            family,
            W=W,
            roots=roots if family.normalization == "rw" else ones,
            _shared=first._shared,
        )
        for family in families
    ]


def _column(nodes: Any) -> Any:
    """The nodes of an array with one column."""
    is_column = isinstance(nodes, np.ndarray) and nodes.ndim == 2 and nodes.shape[1] == 1
    return nodes[:, 0] if is_column else nodes


def _values(y: npt.ArrayLike, n: int) -> FloatArray:
    """Finite values of shape ``(n,)`` or ``(n, n_outputs)``."""
    if n == 0:
        raise InputError("must hold at least one node, found none", argument="nodes")
    values = np.asarray(y)
    is_finite = values.dtype.kind not in "fc" or bool(np.isfinite(values).all())
    is_numeric = values.dtype.kind in "buif" and values.size > 0 and is_finite
    if values.ndim not in {1, 2} or values.shape[0] != n or not is_numeric:
        problem = f"must be finite numbers of shape ({n},) or ({n}, n_outputs), found shape "
        problem += f"{values.shape} of {values.dtype}"
        problem += "" if is_finite else " with NaN or infinity"
        raise InputError(problem, argument="y", advice="leave out nodes without a value")
    return values.astype(np.float64)


def _with_variances(
    noise_variance: npt.ArrayLike, n: int, given: Given
) -> tuple[Given, FloatArray]:
    """The mean variance as the noise, and the variances relative to it."""
    if given.noise is not None:
        raise InputError("must not be given with noise_variance", argument="noise")
    variances = np.asarray(noise_variance, np.float64)
    if variances.shape != (n,) or not (np.isfinite(variances) & (variances > 0)).all():
        problem = f"must be {n} positive numbers, one per observation"
        raise InputError(problem, argument="noise_variance")
    middle = float(variances.mean())
    return given._replace(noise=middle), variances / middle

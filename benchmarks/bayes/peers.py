#!/usr/bin/env python3
"""The bayes room beside its Python peers, in one run: CPU time of 500 + 500 draws of one chain.

Usage: peers.py BENCH_BAYES DATA_DIRECTORY [SEEDS]   (run it with ./peers, which makes the venv)

Every peer is compiled once and warmed up outside of the measurement. Then, seed by seed, every
system runs once, so that all see the same load of the machine. Time is CPU time of the whole
process tree. Peers that are not installed are named and left out.
"""
import json
import os
import statistics
import subprocess
import sys

BENCH, DATA = sys.argv[1], sys.argv[2]
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
TICK = os.sysconf("SC_CLK_TCK")
ALL = json.load(open(os.path.join(DATA, "data.json")))
REGIME = ["mu_trend", "sigma_trend", "sigma_mr", "sigma_vol", "theta_mr", "mu_mr", "logit_w1", "logit_w2"]


def tree_cpu():
    """CPU seconds of this process and its living or reaped descendants."""
    parents, ticks = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(entry)] = int(fields[1])
        ticks[int(entry)] = sum(map(int, fields[11:15]))

    def mine(pid):
        while pid and pid != os.getpid():
            pid = parents.get(pid, 0)
        return bool(pid)

    return sum(t for pid, t in ticks.items() if mine(pid)) / TICK


def engine(name):
    def run(seed):
        line = subprocess.run([BENCH, "--fit", name, str(seed), "--data", DATA], check=True, capture_output=True)
        return json.loads(line.stdout)["cpu_ms"]

    return run


def timed(f):
    def run(seed):
        start = tree_cpu()
        f(seed)
        return (tree_cpu() - start) * 1e3

    return run


def numpyro_peer(name):
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as d

    y = jnp.array(ALL[name]["y"])

    def model():
        s = numpyro.sample
        mu, st = s("mu_trend", d.Normal(0, 1)), s("sigma_trend", d.HalfNormal(1))
        sm, sv = s("sigma_mr", d.HalfNormal(1)), s("sigma_vol", d.HalfNormal(2))
        theta, mm = s("theta_mr", d.Normal(0, 1)), s("mu_mr", d.Normal(0, 0.5))
        w1, w2 = s("logit_w1", d.Normal(0, 1)), s("logit_w2", d.Normal(0, 1))
        if name == "M1":
            s("y", d.Normal(mu, st), obs=y)
            return
        lw = jax.nn.log_softmax(jnp.array([w1, w2, 0.0]))
        parts = jnp.stack([d.Normal(mu, st).log_prob(y), d.Normal(theta * mm, sm).log_prob(y), d.Normal(0, sv).log_prob(y)])
        numpyro.factor("y", jax.scipy.special.logsumexp(lw[:, None] + parts, axis=0).sum())

    def sample(key):
        kernel = numpyro.infer.NUTS(model)
        mcmc = numpyro.infer.MCMC(kernel, num_warmup=500, num_samples=500, progress_bar=False)
        mcmc.run(key)
        return mcmc.get_samples()

    # Compiled as a whole: `MCMC.run` alone traces again at every call.
    compiled = jax.jit(sample)

    def run(seed):
        jax.block_until_ready(compiled(jax.random.PRNGKey(seed)))

    run(10_000)
    return timed(run)


def nutpie_peer(name):
    import nutpie
    import numpy as np
    import pymc as pm

    y = np.array(ALL[name]["y"])
    with pm.Model() as model:
        mu, st = pm.Normal("mu_trend", 0, 1), pm.HalfNormal("sigma_trend", 1)
        sm, sv = pm.HalfNormal("sigma_mr", 1), pm.HalfNormal("sigma_vol", 2)
        theta, mm = pm.Normal("theta_mr", 0, 1), pm.Normal("mu_mr", 0, 0.5)
        w1, w2 = pm.Normal("logit_w1", 0, 1), pm.Normal("logit_w2", 0, 1)
        if name == "M1":
            pm.Normal("y", mu, st, observed=y)
        else:
            logits = pm.math.stack([w1, w2, 0.0])
            lw = logits - pm.math.logsumexp(logits)
            parts = [pm.logp(pm.Normal.dist(m, s), y) for m, s in [(mu, st), (theta * mm, sm), (0.0, sv)]]
            pm.Potential("y", pm.math.logsumexp(pm.math.stack([lw[k] + p for k, p in enumerate(parts)]), axis=0).sum())
    compiled = nutpie.compile_pymc_model(model)

    def run(seed):
        nutpie.sample(compiled, tune=500, draws=500, chains=1, cores=1, seed=seed, progress_bar=False)

    run(10_000)
    return timed(run)


def stan_peer(name):
    import stan

    priors = """mu_trend ~ normal(0, 1); sigma_trend ~ normal(0, 1); sigma_mr ~ normal(0, 1); sigma_vol ~ normal(0, 2);
      theta_mr ~ normal(0, 1); mu_mr ~ normal(0, 0.5); logit_w1 ~ normal(0, 1); logit_w2 ~ normal(0, 1);"""
    likelihood = "y ~ normal(mu_trend, sigma_trend);" if name == "M1" else """
      vector[3] lw = log_softmax([logit_w1, logit_w2, 0]');
      for (i in 1:n) target += log_sum_exp([lw[1] + normal_lpdf(y[i] | mu_trend, sigma_trend),
        lw[2] + normal_lpdf(y[i] | theta_mr * mu_mr, sigma_mr), lw[3] + normal_lpdf(y[i] | 0, sigma_vol)]');"""
    positive = {"sigma_trend", "sigma_mr", "sigma_vol"}
    parameters = "".join(f"real{'<lower=0>' if p in positive else ''} {p};" for p in REGIME)
    code = f"data {{ int n; vector[n] y; }} parameters {{ {parameters} }} model {{ {priors} {likelihood} }}"
    y = ALL[name]["y"]

    def run(seed):
        # The model is in Stan's cache after the first build; a seed needs a build of its own.
        stan.build(code, data={"n": len(y), "y": y}, random_seed=seed).sample(num_chains=1, num_warmup=500, num_samples=500)

    run(10_000)
    return timed(run)


def main():
    for name in ["M1", "M5"]:
        systems = {"plimsoll": engine(name)}
        for peer, make in [("nutpie", nutpie_peer), ("numpyro", numpyro_peer), ("pystan", stan_peer)]:
            try:
                systems[peer] = make(name)
            except Exception as error:  # a peer that does not install or start is not a failure of ours
                print(f"{name} {peer}: left out: {type(error).__name__}: {str(error)[:120]}")
        times = {system: [] for system in systems}
        for seed in range(SEEDS):
            order = list(systems) if seed % 2 == 0 else list(systems)[::-1]
            for system in order:
                times[system].append(systems[system](seed))
        for system, values in times.items():
            ratios = sorted(v / own for v, own in zip(values, times["plimsoll"]))
            print(
                f"{name} {system:9} CPU ms {statistics.median(values):9.1f}   over plimsoll "
                f"{statistics.median(ratios):7.1f} ({ratios[0]:.1f} … {ratios[-1]:.1f}), {SEEDS} seeds",
                flush=True,
            )


if __name__ == "__main__":
    main()

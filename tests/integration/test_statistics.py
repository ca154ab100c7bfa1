# SPDX-License-Identifier: MIT
"""
Figures on demand against SciPy and NumPy, on traffic that is generated: each to 1e-9 of itself. And
the known answers: Poisson 1, batches of K about K, fractional Gaussian noise its H, a shift no change but
its delay, fairness 1 and 1/n. Of a program that writes down when it sends, magnet's H is that of its own
times.
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import MAGNET, PYTHON, Recording, check, flow, near, no_kernel_side, patiently, run, skip

try:
    import numpy as np
    import scipy
    from scipy import optimize, signal, special, stats
except ImportError:
    if os.path.realpath(sys.executable) != os.path.realpath(PYTHON) and os.path.exists(PYTHON):
        os.execv(PYTHON, [PYTHON, *sys.argv])
    skip("python3-scipy is not installed")

STATISTICS = sys.argv[1]
RELATIVE = 1e-9
rng = np.random.default_rng(1997)


def ask(what, numbers, *args):
    text = "\n".join(map(repr, np.asarray(numbers, float).ravel().tolist()))
    p = subprocess.run([STATISTICS, what, *map(repr, map(float, args))], input=text, text=True,
                       capture_output=True, check=True)
    return json.loads(p.stdout)


def agree(ours, theirs, what, scale=None):
    """All of them; `scale` is what errors are relative to where values may be near 0."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape:
        check(False, f"{what}: {ours.shape} values, not {theirs.shape}")
    same = np.isnan(ours) & np.isnan(theirs)
    size = np.abs(theirs) if scale is None else np.full(theirs.shape, scale)
    error = np.where(same, 0, np.abs(ours - theirs) / np.where(size == 0, 1, size))
    worst = error.max() if error.size else 0
    check(worst <= RELATIVE, f"{what}: {ours.size} values within {worst:.1e}")


# ---- generated traffic ----

def fgn(n, h):
    """Fractional Gaussian noise, exactly (Davies & Harte 1987)."""
    k = np.arange(n + 1.0)
    gamma = 0.5 * ((k + 1) ** (2 * h) - 2 * k ** (2 * h) + np.abs(k - 1) ** (2 * h))
    eigen = np.fft.fft(np.concatenate([gamma, gamma[-2:0:-1]])).real
    m = len(eigen)
    z = rng.standard_normal(m) + 1j * rng.standard_normal(m)
    return np.fft.fft(np.sqrt(np.maximum(eigen, 0) / m) * z).real[:n]


def heavy_units(n):
    """Packets in trains, with silences of all lengths."""
    gaps = np.where(rng.random(n) < 0.8, rng.exponential(2e4, n), rng.pareto(1.3, n) * 1e6)
    return np.floor(np.cumsum(gaps)), rng.integers(40, 1501, n).astype(float)


def bins_of(times, width, weights=None):
    n = int(times[-1] // width)
    return np.histogram(times, np.arange(n + 1) * float(width), weights=weights)[0].astype(float)


# ---- the same figures, by others ----

def idc(x):
    out, m = [], 1
    while len(x) // m >= 30:
        counts = x[:len(x) // m * m].reshape(-1, m).sum(1)
        counts = counts[~np.isnan(counts)]
        if len(counts) < 30 or counts.mean() == 0:
            break
        out.append([m, len(counts), counts.mean(), counts.var(ddof=1) / counts.mean()])
        m *= 2
    return out


def variance_time(x):
    out, m = [], 1
    while len(x) // m >= 30:
        means = x[:len(x) // m * m].reshape(-1, m).mean(1)
        means = means[~np.isnan(means)]
        if len(means) < 30 or means.var() == 0:
            break
        out.append([m, len(means), means.var(ddof=1)])
        m *= 2
    return out


def slope_error(points, slope):
    h = min(max(1 + slope / 2, 0.5), 0.99)
    x = np.log2([p[0] for p in points])
    weight = np.abs(x - x.mean()) / ((x - x.mean()) ** 2).sum()
    total = 0
    for w, (_, blocks, _) in zip(weight, points):
        blocks = min(blocks, 65536)
        k = np.arange(1.0, blocks)
        rho = 0.5 * ((k + 1) ** (2 * h) - 2 * k ** (2 * h) + (k - 1) ** (2 * h))
        total += w * math.sqrt(2 / blocks * (1 + 2 * ((1 - k / blocks) * rho ** 2).sum())) / math.log(2)
    return stats.norm.ppf(0.975) * total


def haar(x):
    """Octave, coefficients, energy, y, sigma; by differences of block sums."""
    out, j = [], 1
    while len(x) >> j >= 4:
        halves = x[:(len(x) >> j) << j].reshape(-1, 2, 1 << (j - 1)).sum(2)
        d = (halves[:, 0] - halves[:, 1]) / 2 ** (j / 2)
        d = d[~np.isnan(d)]
        n = len(d)
        if n < 4:
            break
        energy = (d ** 2).mean()
        with np.errstate(divide="ignore"):
            y = np.log2(energy) - special.digamma(n / 2) / np.log(2) + np.log2(n / 2)
        out.append([j, n, energy, y, math.sqrt(special.zeta(2, n / 2)) / math.log(2)])
        j += 1
    return out


def line(octaves, first, last):
    """Weighted least squares by the normal equations' inverse."""
    o = np.array([r for r in octaves if first <= r[0] <= last])
    a = np.column_stack([o[:, 0], np.ones(len(o))]) / o[:, 4:5]
    b = o[:, 3] / o[:, 4]
    cov = np.linalg.inv(a.T @ a)
    fit = np.linalg.lstsq(a, b, rcond=None)[0]
    p = stats.chi2.sf(((a @ fit - b) ** 2).sum(), len(o) - 2)
    return [fit[0], stats.norm.ppf(0.975) * math.sqrt(cov[0, 0]), p]


def bucket(t, size, rate):
    q = most = 0.0
    for i in range(len(t)):
        q = max(0.0, q - (rate * (t[i] - t[i - 1]) / 1e9 if i else 0)) + size[i]
        most = max(most, q)
    return most


def gcra(t, size, link, rate):
    tat = free = -math.inf
    tau = 0.0
    for at, length in zip(t, size):
        at = max(at, free)
        for _ in range(math.ceil((length + 8) / 48)):
            tau = max(tau, tat - at)
            tat = max(at, tat) + 1e9 / rate
            at += 1e9 / link
        free = at
    return tau


def check_bins(x, what):
    ours = ask("bins", x)
    agree(ours["idc"], idc(x), f"{what}: idc")
    points = variance_time(x)
    agree(ours["variance_time"], points, f"{what}: variance-time")
    fit = stats.linregress(np.log(np.array(points)[:, 0]), np.log(np.array(points)[:, 2]))
    agree(ours["slope"], fit.slope, f"{what}: its slope")
    agree(ours["slope_error"], slope_error(points, fit.slope), f"{what}: the slope's error")
    octaves = haar(x)
    agree(ours["octaves"], octaves, f"{what}: octaves")
    between = [ours["between"][k] for k in ("alpha", "error")]
    agree(between, line(octaves, 2, 6)[:2], f"{what}: a line between two octaves", 1)
    agree(ours["between"]["p"], line(octaves, 2, 6)[2], f"{what}: its chi-square", 1)
    # the line is where it should begin: from there it fits, from no octave before
    last = max(o[0] for o in octaves if o[1] >= 8)
    fits = [first for first in range(1, last - 2) if line(octaves, first, last)[2] > 0.05]
    check(ours["line"]["from"] == (fits[0] if fits else 0), f"{what}: the line begins at {fits[:1]}")
    if fits:
        agree([ours["line"]["alpha"], ours["line"]["error"]], line(octaves, fits[0], last)[:2],
              f"{what}: its slope")
    if ours["h_first"] is not None:
        for half, part in (("h_first", x[:len(x) // 2]), ("h_second", x[len(x) // 2:2 * (len(x) // 2)])):
            agree(ours[half], (1 + line(haar(part), fits[0], last)[0]) / 2, f"{what}: {half}")
        same = [p for p in points if p[0] >= 2 ** (fits[0] - 1)]
        fit = stats.linregress(np.log([p[0] for p in same]), np.log([p[2] for p in same]))
        agree(ours["h_variance_time"], 1 + fit.slope / 2, f"{what}: H by variance-time")
    return ours


def functions():
    a = np.concatenate([rng.random(40) * 3 + 1e-3, 10 ** rng.uniform(0, 6, 60)])
    ours = np.array(ask("special", np.column_stack([a, a]))["values"])
    agree(ours[:, 0], special.digamma(a), "digamma", 1)
    agree(ours[:, 1], special.zeta(2, a), "Hurwitz zeta(2, a)")
    a = rng.integers(1, 60, 200)
    x = a * rng.random(200) * 5
    ours = np.array(ask("special", np.column_stack([a, x]))["values"])
    agree(ours[:, 2], stats.chi2.sf(x, a), "chi-square beyond")


def units():
    t, size = heavy_units(3000)
    link, scr = 366792.0, 9000.0
    mean = size.sum() / (t[-1] - t[0]) * 1e9
    for times in (0.8, 1.0, 1.7, 6.0):
        limit = bucket(t, size, times * mean)
        ours = ask("units", np.column_stack([t, size]), 1e6, times * mean, limit, link, scr * times, link)
        agree(ours["bucket"], limit, f"bucket at {times} times the mean rate")
        if times >= 1:
            found = optimize.brentq(lambda r: bucket(t, size, r) - limit - 1e-7, mean / 4, mean * 20,
                                    xtol=1e-12, rtol=1e-14)
            near(ours["rate"], found, 1e-6, "and the rate back from it")
            check(bucket(t, size, ours["rate"]) <= limit * (1 + RELATIVE) and
                  bucket(t, size, ours["rate"] * (1 - 1e-8)) >= limit * (1 - RELATIVE),
                  "which is the least that does")
        tau = gcra(t, size, link, scr * times)
        agree(ours["tau"], tau, "GCRA tolerance", max(tau, 1e6))
        check(ours["mbs"] == 1 + math.ceil(tau / (1e9 / (scr * times) - 1e9 / link) - 1e-6),
              f"burst of {ours['mbs']:.0f} cells")
    agree(ours["spacings"], np.diff(t), "spacings")
    parts = np.split(np.arange(len(t)), np.flatnonzero(np.diff(t) > 1e6) + 1)
    agree(ours["bursts"], [[len(p), size[p].sum(), t[p[-1]] - t[p[0]]] for p in parts], "bursts")


def pairs():
    x = rng.poisson(3.0, 40000).astype(float)
    smooth = np.convolve(x, np.ones(5) / 5)[:len(x)] + rng.random(len(x))
    for y, what in ((smooth, "smoothed"), (rng.poisson(3.0, len(x)).astype(float), "a stranger"),
                    (np.roll(x, 37), "shifted")):
        ours = ask("pair", np.column_stack([x, y]))
        _, theirs = signal.coherence(x, y, nperseg=int(ours["length"]), noverlap=0, window="hann")
        agree(ours["coherence"], theirs, f"{what}: coherence", 1)
        k = len(x) // int(ours["length"])
        check(ours["segments"] == k, f"{k} segments")
        agree(ours["threshold"], 1 - 0.05 ** (1 / (k - 1)), "threshold")
        xc, yc = x - x.mean(), y - y.mean()
        lags = signal.correlate(yc, xc, method="fft") / math.sqrt((xc ** 2).sum() * (yc ** 2).sum())
        middle, most = len(x) - 1, len(x) // 4
        window = lags[middle - most:middle + most + 1]
        check(ours["lag"] == np.argmax(window) - most, f"{what}: lag of {ours['lag']:.0f} bins")
        agree(ours["correlation"], window.max(), f"{what}: correlation", 1)
        ks = stats.ks_2samp(x, y, method="asymp")
        agree(ours["sup"], ks.statistic, f"{what}: distance", 1)
        if ours["sup"] > 0:
            f = (x <= ours["at"]).mean() - (y <= ours["at"]).mean()
            agree(abs(f), ours["sup"], "and it is where it is said to be", 1)
    above = np.mean(np.array(ask("pair", np.column_stack([x, rng.poisson(3.0, len(x))]))["coherence"])
                    > ours["threshold"])
    check(above < 0.1, f"{above:.3f} of a stranger's frequencies are above the threshold of 5 %")


def known_answers():
    n = 1 << 15
    poisson = rng.poisson(5.0, n).astype(float)
    ours = check_bins(poisson, "Poisson")
    for bins, windows, _, value in ours["idc"]:
        check(abs(value - 1) < 5 * math.sqrt(2 / windows), f"Poisson, {bins:.0f} ms: idc {value:.3f} is 1")
    check(ours["refused"] == 0 and abs(ours["h"] - 0.5) < 2 * ours["h_error"],
          f"Poisson: H {ours['h']:.3f} +- {ours['h_error']:.3f} is 0.5")
    for k in (4, 16):
        ours = check_bins(k * rng.poisson(1.0, n).astype(float), f"batches of {k}")
        for bins, windows, _, value in ours["idc"]:
            check(abs(value / k - 1) < 6 * math.sqrt(2.5 / windows),
                  f"batches of {k}, {bins:.0f} ms: idc {value:.2f}")
    for h in (0.6, 0.8, 0.9):
        ours = check_bins(np.round(1e5 * (10 + fgn(2 * n, h))), f"fGn of H {h}")
        check(ours["refused"] == 0, f"fGn of H {h}: not refused")
        check(abs(ours["h"] - h) < 2.5 * ours["h_error"],
              f"fGn of H {h}: {ours['h']:.4f} +- {ours['h_error']:.4f}")
        check(abs(ours["h_variance_time"] - h) < ours["h_variance_time_error"], "and variance-time agrees")
    t, size = heavy_units(20000)
    check_bins(bins_of(t, 1e6, size), "trains")
    gap = fgn(n, 0.8) + 10
    gap[5000:5003] = np.nan
    gap[20000] = np.nan
    ours = check_bins(gap, "with gaps")
    check(ours["refused"] == 1 and ours["h"] is None, "and no H then")
    check(ask("bins", poisson[:(1 << 14) - 1])["refused"] == 2, "too short for H: refused")
    busy = poisson.copy()
    busy[n // 2:] *= 3
    check(ask("bins", busy)["refused"] >= 3, "not stationary: refused")
    for period in (7, 10, 13, 20, 32, 100):
        clock = np.where(np.arange(n) % period == 0, 1448.0, 0.0)
        check(ask("bins", clock)["refused"] >= 3, f"a clock of {period} ms: refused")
    # a pure delay: nothing but the lag changes
    times = np.cumsum(rng.exponential(7e5, 50000))
    x, y = bins_of(times, 1e6), bins_of(times + 25e6, 1e6)
    spacings = np.diff(np.round(times))
    ours = ask("pair", np.column_stack([spacings, np.diff(np.round(times + 25e6))]))
    check(ours["sup"] < 1e-3, f"shifted by 25 ms: spacings at a distance of {ours['sup']}")
    m = min(len(x), len(y))
    ours = ask("pair", np.column_stack([x[:m], y[:m]]))
    check(ours["lag"] == 25, "and the lag is 25 ms")
    check(ours["correlation"] > 0.99, f"at a correlation of {ours['correlation']:.4f}")


def fairness():
    for n in (2, 7, 30):
        check(ask("jain", np.full(n, 3.5))["jain"] == 1, f"{n} alike: 1")
        near(ask("jain", np.eye(n)[0] * 8)["jain"], 1 / n, 1e-15, f"one of {n} has everything")
        x = rng.pareto(1.5, n)
        agree(ask("jain", x)["jain"], x.mean() ** 2 / (x ** 2).mean(), "any other")


TICK_NS, TICKS, MEAN, SPREAD = 250_000, 18000, 600, 250
SENDER = f"""
import socket, sys, time
due = list(map(int, sys.stdin.read().split()))
sink = socket.socket(type=socket.SOCK_DGRAM)
sink.bind(("127.0.0.1", 0))
s = socket.socket(type=socket.SOCK_DGRAM)
s.connect(sink.getsockname())
sent, data, begin = [], b"x" * {10 * MEAN}, time.monotonic_ns()
for tick, size in enumerate(due):
    late = time.monotonic_ns() - begin - tick * {TICK_NS}
    if late < 0:
        time.sleep(-late / 1e9)
    if size:
        sent.append((time.monotonic_ns(), size))
        s.send(data[:size])
print(*(n for pair in sent for n in pair))
"""


def begin_of_line(octaves):
    """The octave from which on a line fits, as docs/method.md defines it, and the last; 0: none does."""
    last = max(o[0] for o in octaves if o[1] >= 8)
    fits = [first for first in range(1, last - 2) if line(octaves, first, last)[2] > 0.05]
    return fits[0] if fits else 0, last


def own_times():
    """However late the timers: magnet's times and the program's own are of the same sends."""
    if why := no_kernel_side():
        print("left out, there are no flows without the kernel side: " + why)
        return
    for h in (0.75, 0.7, 0.8) * 2:
        due = np.clip(np.round(MEAN + SPREAD * fgn(TICKS, h)), 0, 10 * MEAN).astype(int)
        planned = ask("bins", due)
        check(abs(planned["h"] - h) < 2.5 * planned["h_error"],
              f"H {h} is due: {planned['h']:.4f} +- {planned['h_error']:.4f}")
        with Recording(PYTHON, "-c", SENDER, options=("--protocol", "udp"), input=" ".join(map(str, due))) as rec:
            sent = np.array(rec.p.stdout.split(), dtype=np.int64).reshape(-1, 2)
            report = json.loads(run(MAGNET, "report", "--json", "--on-demand", f"hurst:bin={TICK_NS / 1e6}",
                                    rec.dir).stdout)
        tx = flow(report, "tx")
        check(tx["bytes"] == sent[:, 1].sum(), f"{len(sent)} sends are recorded")
        told = next(r for r in tx["on_demand"]["hurst"]["layers"] if r["layer"] == "call")
        at = (sent[:, 0] - sent[0, 0]) // TICK_NS
        x = np.bincount(at, sent[:, 1], told["bins"])[:told["bins"]]
        octaves = haar(x)
        if told["alpha"] is not None:
            own = (1 + line(octaves, told["octave_from"], told["octave_to"])[0]) / 2
            check(abs((1 + told["alpha"]) / 2 - own) <= told["alpha_error"] / 2,
                  f"from octave {told['octave_from']} on: {(1 + told['alpha']) / 2:.4f} +- "
                  f"{told['alpha_error'] / 2:.4f}, by the program's own times {own:.4f}")
        first, last = begin_of_line(octaves)
        if told["H"] is None or not first:
            print(f"no H: {told['refused']}: once more")
            continue
        own = (1 + line(octaves, first, last)[0]) / 2
        check(abs(told["H"] - own) <= told["H_error"],
              f"H {told['H']:.4f} +- {told['H_error']:.4f}, by its own times {own:.4f} from octave {first} on")
        return
    check(False, "one of six recordings has an H")


print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
functions()
units()
pairs()
known_answers()
patiently(own_times)
fairness()

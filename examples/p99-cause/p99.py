# SPDX-License-Identifier: MIT
"""Finds what sets the slowest percent of a server's requests apart from the median's: p99.py DIR"""
import sys

import magnet

SAME = ["request", "ordinal"]  # which name an exchange

with magnet.open(sys.argv[1]) as recording:
    all_of_them = recording.facts.exchange.to_pandas()
    served = all_of_them[(all_of_them["role"] == "server") & (all_of_them["answer"] == "answered")].dropna(
        subset=["to_reply"]).sort_values("to_reply")
    if len(served) < 100:
        sys.exit(f"{len(served)} answered requests of a server are recorded: a p99 takes 100")
    n = max(1, len(served) // 100)
    middle = len(served) // 2
    groups = {"slowest 1 %": served.tail(n), "median": served[middle - n: middle + n + 1]}

    spent = recording.facts.in_program.to_pandas()
    spent["request"] = spent["request"].astype(str)
    means = {}
    for name, group in groups.items():
        keys = group[SAME].assign(request=group["request"].astype(str))
        rows = spent.merge(keys, on=SAME)
        what = rows["part"].astype(str) + rows["call"].astype(object).map(lambda c: f" in {c}" if isinstance(c, str) else "")
        means[name] = rows.groupby(what)["time"].sum() / len(group) / 1e6
        print(f"{name}: {len(group)} requests, {group['to_reply'].mean() / 1e6:.3f} ms each, of which "
              f"{group['in_program'].mean() / 1e6:.3f} ms in the program")

    more = means["slowest 1 %"].sub(means["median"], fill_value=0).sort_values(ascending=False)
    print("the slowest spend more than the median, per request:")
    for what, ms in more.head(4).items():
        print(f"  {ms:9.3f} ms  {what}")
    picture, _ = magnet.plot.exchanges(recording).save(sys.argv[1] + ".svg")
    print(f"every request over time: {picture}")

"""Timelines and memory as they are drawn, with what stands for matplotlib."""

from by_hand import bars, drawn, loaded, refused, zero

drawn(loaded().plot_timeline)
drawn(loaded().plot_timeline, thread=2, own=False)
drawn(zero().plot_timeline, own=False)
drawn(loaded([], []).plot_timeline)
[
    refused(drawn, loaded().plot_timeline, thread=7),
    refused(drawn, loaded([], []).plot_timeline, thread=1),
]
drawn(bars(30, 29, 400, 500, 31, 100, gap=0).plot_timeline, own=False)
drawn(bars(100, 900, name="twelve_chars").plot_timeline, own=False)
[
    drawn(bars(*[50] * 20, name=name, gap=0).plot_timeline, own=False).splitlines()[1]
    for name in ("eight_ch", "nine_char")
]
drawn(bars(9, 8, 7, 6, 10).plot_timeline, own=False, most=3)
drawn(bars(9, 8, 7).plot_timeline, own=False, most=3)
[
    drawn(loaded([("a", start, end, {})], []).plot_timeline, own=False).splitlines()[-6]
    for start, end in ((0, 2_000_000), (0, 1_999_999), (1_000_000, 2_500_000), (5, 5))
]
drawn(loaded([("a", 0, 0, {})], []).plot_timeline, own=False).splitlines()[:3]
[
    drawn(
        loaded([("a", 0, 9, {"thread": k + 1}) for k in range(n)], []).plot_timeline
    ).splitlines()[0]
    for n in (1, 3, 4, 5, 23, 24)
]
[
    drawn(
        loaded([(f"a{k}", k, 99 - k, {"parent": k - 1}) for k in range(n)], []).plot_timeline
    ).splitlines()[0]
    for n in (1, 3, 4, 7)
]
drawn(
    loaded(
        [
            ("Optimizer.zero_grad", 0, 50, {"scope": 7}),
            ("Optimizer.step#SGD.step", 50, 99, {"scope": 7}),
        ],
        [],
    ).plot_timeline,
    own=False,
)
drawn(loaded().plot_memory)
drawn(zero().plot_memory, own=False)
drawn(loaded(memory=()).plot_memory, own=False)
drawn(
    loaded(
        memory=[(40_000, 5_000_000, 5_000_000, 1, 1, 18), (60_000, -5_000_000, 0, 1, 1, -1)]
    ).plot_memory,
    own=False,
)
drawn(
    loaded(memory=[(25_000, 900, 900, 1, 1, -1), (26_000, -500, 400, 2, 1, -1)]).plot_memory,
    own=False,
)
refused(drawn, loaded(options=()).plot_memory)

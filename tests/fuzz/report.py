"""Count cases, print each kind of finding once, and write programs that show them."""

from collections import Counter
from pathlib import Path

from .known import reason_of

SHOWN = 2  # findings of one title that are printed in full
COLUMNS = ("ok", "refused", "known", "wrong", "crash", "hang", "other")


class Report:
    """`other` counts calls that only one of two libraries refuses; they fail nothing."""

    def __init__(self, asked, stream):
        self.asked, self.stream = asked, stream
        self.counts = {name: Counter() for name in asked.only}
        self.titles = Counter()
        self.reasons = Counter()

    def add(self, part, status, finding):
        if finding is None:
            self.counts[part][status] += 1
            return
        reason = reason_of(finding)
        if reason is not None:
            self.reasons[reason] += 1
            self.counts[part]["known"] += 1
            return
        self.counts[part][finding.kind] += 1
        key = (part, finding.kind, finding.title)
        self.titles[key] += 1
        if self.titles[key] <= SHOWN:
            self._show(finding)

    def _show(self, finding):
        again = f"python -m tests.fuzz --seed {self.asked.seed} --only {finding.part}"
        again += f" --case {finding.number}"
        text = [f"\n--- {finding.part} {finding.number}: {finding.kind}: {finding.title}"]
        text += [finding.text.rstrip(), f"again: {again}"]
        if finding.after:
            text.append(f"after the cases {', '.join(map(str, finding.after))} in one process")
        if len(finding.source) < 3000:
            text.append(finding.source.rstrip())
        self._print("\n".join(text))
        if self.asked.findings:
            folder = Path(self.asked.findings)
            folder.mkdir(parents=True, exist_ok=True)
            comment = "\n".join(f"# {line}" for line in [*text[0].split("\n"), finding.text, again])
            comment = comment.replace("\n", "\n# ").replace("# # ", "# ")
            name = f"{finding.part}-{self.asked.seed}-{finding.number}.py"
            (folder / name).write_text(f"{comment}\n{finding.source}")

    def finish(self):
        rows = [("part", "cases", *COLUMNS)]
        for part, counts in self.counts.items():
            total = sum(counts.values()) - counts["other"]
            rows.append((part, total, *(counts[c] for c in COLUMNS)))
        widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(str(x).ljust(w) if i == 0 else str(x).rjust(w) for i, (x, w) in pairs)
            for pairs in (list(enumerate(zip(row, widths))) for row in rows)
        ]
        self._print("\n" + "\n".join(lines))
        for reason, count in self.reasons.most_common():
            self._print(f"known, {count} times: {reason}")
        repeated = {key: n for key, n in self.titles.items() if n > SHOWN}
        for (part, kind, title), n in repeated.items():
            self._print(f"{n} times: {part}: {kind}: {title}")
        if self.exit_code:
            self._print(f"seed {self.asked.seed}")

    @property
    def exit_code(self):
        failing = self.asked.fail_on.split(",")
        return int(any(counts[kind] for counts in self.counts.values() for kind in failing))

    def _print(self, text):
        print(text, file=self.stream, flush=True)

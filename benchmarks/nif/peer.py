"""rapidfuzz on the other side of a pipe: reads `FILE_A FILE_B CALLS` lines, answers each with
`CPU_NANOSECONDS DISTANCE`, the time of that many calls on the same two strings."""

import sys
import time
from pathlib import Path

import rapidfuzz
from rapidfuzz.distance import Levenshtein

print(rapidfuzz.__version__, flush=True)
for line in sys.stdin:
    first, second, calls = line.split()
    a, b = Path(first).read_bytes(), Path(second).read_bytes()
    distance = Levenshtein.distance
    rounds = range(int(calls))
    start = time.process_time_ns()
    for _ in rounds:
        result = distance(a, b)
    print(time.process_time_ns() - start, result, flush=True)

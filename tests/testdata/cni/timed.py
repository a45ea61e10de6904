"""Runs commands for a measurement. Each line of input is one as JSON: {"argv": [...], "env": {...}, "input": "..."}.
Each line of output is what it cost, children included: {"code", "out", "err", "wall", "cpu": ms, "peak": KB}.

A small process of its own, because the peak of memory that the kernel counts for a child begins with its parent's.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

for line in sys.stdin:
    asked = json.loads(line)
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(asked["input"].encode())
        given.seek(0)
        began = time.monotonic()
        child = subprocess.Popen(asked["argv"], env=asked["env"], stdin=given, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        wall = (time.monotonic() - began) * 1000
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        print(json.dumps({
            "code": child.returncode,
            "out": out.read().decode(),
            "err": err.read().decode(),
            "wall": wall,
            "cpu": (usage.ru_utime + usage.ru_stime) * 1000,
            "peak": usage.ru_maxrss,
        }), flush=True)

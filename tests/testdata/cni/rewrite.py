"""Rewrites a configuration as another program does and prints how long it lacked the plugin, in ms: rewrite.py <file> <text file> <times> [in-place]"""
import os
import sys
import time

path, source, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
in_place = len(sys.argv) > 4
text = open(source).read()


def chained():
    try:
        return "mesh-cni" in open(path).read()
    except FileNotFoundError:
        return False


for _ in range(times):
    if in_place:
        with open(path, "w") as file:
            file.write(text)
    else:
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)
    since = time.monotonic()
    while not chained():
        if time.monotonic() - since > 60:
            print("never", flush=True)
            sys.exit(1)
        time.sleep(0.0005)
    print(round((time.monotonic() - since) * 1000, 1), flush=True)
    time.sleep(0.05)

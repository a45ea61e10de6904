"""Resolves names as Python does: lines `family name` in, addresses or `none` out."""
import socket
import sys

FAMILIES = {"0": socket.AF_UNSPEC, "4": socket.AF_INET, "6": socket.AF_INET6}
for line in sys.stdin:
    family, name = line.split()
    try:
        found = socket.getaddrinfo(name, None, FAMILIES[family], socket.SOCK_STREAM, 0, socket.AI_CANONNAME)
        print(*[address[4][0] for address in found], "|", found[0][3], flush=True)
    except socket.gaierror as error:
        print("none |", "again" if error.errno == socket.EAI_AGAIN else "no such name", flush=True)

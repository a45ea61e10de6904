"""Sockets for tests of redirection, in one network namespace and as one user.

Reads commands from standard input, one JSON object a line, and answers each with one JSON line. Python, because the
tests need socket options that the runtime of the other tests does not give: the original destination of a redirected
connection, transparent listening, packet marks.
"""

import json
import os
import socket
import struct
import sys
import threading

SO_ORIGINAL_DST = 80
IP_TRANSPARENT = 19
IPV6_TRANSPARENT = 75
IPV6_RECVORIGDSTADDR = 74


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def original_of(conn):
    """Destination before it was rewritten; None when the kernel knows of no rewriting."""
    try:
        if conn.family == socket.AF_INET6:
            data = conn.getsockopt(socket.IPPROTO_IPV6, SO_ORIGINAL_DST, 28)
            return [socket.inet_ntop(socket.AF_INET6, data[8:24]), struct.unpack("!H", data[2:4])[0]]
        data = conn.getsockopt(socket.IPPROTO_IP, SO_ORIGINAL_DST, 16)
        return [socket.inet_ntoa(data[4:8]), struct.unpack("!H", data[2:4])[0]]
    except OSError:
        return None


def bound(kind, command):
    host = command["host"]
    sock = socket.socket(family_of(host), kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    if command.get("transparent"):
        if sock.family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
        else:
            sock.setsockopt(socket.IPPROTO_IP, IP_TRANSPARENT, 1)
    sock.bind((host, command["port"]))
    return sock


def forward(conn, command, original):
    """Connects on, as an inbound proxy does that keeps the client's address, and returns the application's answer."""
    out = socket.socket(conn.family, socket.SOCK_STREAM)
    out.settimeout(60)
    out.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, command["forwardMark"])
    if conn.family == socket.AF_INET6:
        out.setsockopt(socket.IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
    else:
        out.setsockopt(socket.IPPROTO_IP, IP_TRANSPARENT, 1)
    out.bind((conn.getpeername()[0], 0))
    out.connect(tuple(original))
    return json.loads(out.recv(4096))


def serve_tcp(sock, command):
    while True:
        conn, _ = sock.accept()
        try:
            local = list(conn.getsockname()[:2])
            answer = {"name": command["name"], "peer": conn.getpeername()[0], "local": local, "original": original_of(conn)}
            if "forwardMark" in command:
                answer["app"] = forward(conn, command, answer["original"] or local)
            conn.sendall(json.dumps(answer).encode())
        except OSError as error:
            conn.sendall(json.dumps({"name": command["name"], "error": str(error)}).encode())
        finally:
            conn.close()


def serve_udp(sock, command):
    while True:
        data, peer = sock.recvfrom(4096)
        answer = {"name": command["name"], "peer": peer[0], "port": peer[1], "said": data.decode()}
        sock.sendto(json.dumps(answer).encode(), peer)


def listen(command):
    if command["protocol"] == "udp":
        sock = bound(socket.SOCK_DGRAM, command)
        work = serve_udp
    else:
        sock = bound(socket.SOCK_STREAM, command)
        sock.listen(128)
        work = serve_tcp
    threading.Thread(target=work, args=(sock, command), daemon=True).start()
    return {"port": sock.getsockname()[1]}


def dial(command):
    host = command["host"]
    udp = command["protocol"] == "udp"
    sock = socket.socket(family_of(host), socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
    sock.settimeout(command.get("timeout", 60))
    try:
        if "mark" in command:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, command["mark"])
        if "source" in command:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((command["source"], command.get("sourcePort", 0)))
        sock.connect((host, command["port"]))
        if udp:
            sock.send(command.get("say", "hello").encode())
        data = b""
        while True:
            part = sock.recv(4096)
            data += part
            if udp or part == b"":
                break
        return {"answer": json.loads(data) if data else None}
    except socket.timeout:
        return {"error": "timeout"}
    except ConnectionRefusedError:
        return {"error": "refused"}
    except OSError as error:
        return {"error": os.strerror(error.errno) if error.errno else str(error)}
    finally:
        sock.close()


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def stray(command):
    """Sends the second packet of a handshake that nobody began (IPv4); says whether the other side resets it."""
    source, target, port = command["source"], command["host"], command["port"]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.bind((source, 0))
    raw.settimeout(command["timeout"])
    own = 33333
    header = lambda check: struct.pack("!HHIIBBHHH", own, port, 7, 9, 5 << 4, 0x12, 1024, check, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack("!BBH", 0, 6, 20)
    raw.sendto(header(checksum(pseudo + header(0))), (target, 0))
    try:
        while True:
            packet = raw.recv(4096)
            tcp = packet[(packet[0] & 15) * 4 :]
            if struct.unpack("!HH", tcp[:4]) == (port, own) and tcp[13] & 4:
                return {"answer": {"name": "reset", "peer": target}}
    except socket.timeout:
        return {"error": "timeout"}
    finally:
        raw.close()


def main():
    for line in sys.stdin:
        command = json.loads(line)
        try:
            result = {"listen": listen, "dial": dial, "stray": stray}[command["do"]](command)
        except OSError as error:
            result = {"error": str(error)}
        print(json.dumps(result), flush=True)


main()

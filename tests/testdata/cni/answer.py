"""Answers every TCP connection to some ports with a word: answer.py <word> <port>..."""
import socket
import sys
import threading

word, ports = sys.argv[1], sys.argv[2:]


def serve(listener):
    while True:
        connection, _ = listener.accept()
        connection.sendall(word.encode())
        connection.close()


for port in ports:
    listener = socket.socket(socket.AF_INET6)
    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("::", int(port)))
    listener.listen(16)
    threading.Thread(target=serve, args=(listener,)).start()
print("ready", flush=True)

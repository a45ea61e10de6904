"""Connects and prints what the other side says, or why it could not: ask.py <address> <port>"""
import socket
import sys

try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60) as connection:
        print(connection.recv(100).decode())
except OSError as error:
    print(type(error).__name__)

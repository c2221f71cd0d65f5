#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a test lets collectd send to: a mail server on 127.0.0.1:25, and the syslog.

    listen.py MAILS SOCKET RECORD

Each mail becomes a file in the folder MAILS, as it came, behind the lines of its envelope. What comes
to the datagram SOCKET, which stands for /dev/log, is appended to the file RECORD. While there is a
file MAILS.hang the mail server takes connections and says nothing.
"""
import itertools
import os
import socket
import socketserver
import sys
import threading
import time

mails, socket_path, record = sys.argv[1:]


class Mail(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    numbers = itertools.count(1)

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def keep(self, envelope):
        text = b""
        for line in self.rfile:
            if line == b".\r\n":
                break
            text += line[1:] if line.startswith(b".") else line
        path = os.path.join(mails, "%04d" % next(Mail.numbers))
        with open(path + ".new", "wb") as file:
            file.write("".join(envelope).encode() + text.replace(b"\r\n", b"\n"))
        os.rename(path + ".new", path + ".mail")

    def handle(self):
        while os.path.exists(mails + ".hang"):
            time.sleep(0.1)
        envelope = []
        self.say("220 mail server of a test")
        for line in self.rfile:
            verb = line.decode().split()[0].upper()
            if verb in ("MAIL", "RCPT"):
                envelope.append(line.decode().replace("\r", ""))
            if verb == "QUIT":
                self.say("221 until later")
                return
            if verb == "DATA":
                self.say("354 go on")
                self.keep(envelope)
                envelope = []
            self.say("250 fine")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


syslog = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
syslog.bind(socket_path)
server = Server(("127.0.0.1", 25), Mail)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("ready", flush=True)
with open(record, "ab", buffering=0) as file:
    while True:
        file.write(syslog.recv(65536).rstrip(b"\0\n") + b"\n")

"""What others are told of the import, and what they send: at the port and with the certificates of Patroni."""
import http.server
import json
import os
import socket
import socketserver
import ssl
import sys
import threading
import time

from import_record import TEMPORARY, record, remember, write

TLS = os.environ.get('TLS_DIRECTORY', '/etc/postgresql/tls')
# Who reaches the pod reaches the port. A call takes milliseconds, and only the operator and the kubelet make any.
CALL, CALLS = float(os.environ.get('IMPORT_CALL_SECONDS', '10')), 64


class Told:
    """What others are told, and what they have sent."""

    def __init__(self):
        self.lock = threading.Lock()
        self.facts = {'phase': 'waiting'}
        self.secrets = None
        self.wish = None

    def say(self, phase, **facts):
        with self.lock:
            if phase != self.facts['phase'] or facts.get('problem') != self.facts.get('problem'):
                print('import: %s %s' % (phase, facts.get('problem', '')), file=sys.stderr, flush=True)
            self.facts = {'phase': phase, **facts}

    def answer(self):
        with self.lock:
            digest = None if self.secrets is None else self.secrets['digest']
            return {'state': 'importing', 'import': {**self.facts, 'digest': digest, 'asked': record.get('asked'), 'refusal': record.get('refusal')}}


told = Told()
# Of the copy: kept where it does not follow for a while.
since = {}


class Handler(http.server.BaseHTTPRequestHandler):
    """The kubelet asks without a certificate; everything else needs one of Patroni's CA."""

    timeout = CALL

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def is_known(self):
        return bool(self.connection.getpeercert())

    def do_GET(self):
        if self.path == '/liveness':
            return self.reply(200, {})
        if not self.is_known():
            return self.reply(403, {})
        return self.reply(503, told.answer() if self.path == '/patroni' else {})

    def do_POST(self):
        size = self.headers.get('Content-Length', '0')
        # Of a number below 0, everything would be read that comes.
        if not self.is_known() or not (size.isascii() and size.isdigit()) or len(size) > 6 or int(size) > 256 * 1024:
            return self.reply(403, {})
        body = json.loads(self.rfile.read(int(size)))
        if self.path == '/import':
            received(body)
        elif self.path == '/cut-over':
            with told.lock:
                told.wish = {'value': body.get('value')}
        else:
            return self.reply(404, {})
        return self.reply(200, {})

    def log_message(self, *_):
        pass


def end(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The peer has ended it.
        pass


def received(body):
    """What the source wants to see of us. It is in memory, and in files of this pod that no disk has."""
    secrets = {'password': str(body['password']), 'ca': str(body.get('ca') or ''), 'digest': str(body['digest'])}
    entry = secrets['password'].replace('\\', '\\\\').replace(':', '\\:')
    write(TEMPORARY + '/ca.crt', secrets['ca'])
    write(TEMPORARY + '/pgpass', '*:*:*:*:%s\n' % entry)
    with told.lock:
        told.secrets = secrets


class Server(socketserver.ThreadingTCPServer):
    """Each call has a thread, and as long as CALL in all. Of too many, the oldest ends: the kubelet is answered all the same."""

    allow_reuse_address = True
    daemon_threads = True
    # With few, the kernel drops what comes beside a burst, and sends it again only after a second.
    request_queue_size = 128

    def __init__(self, *where):
        self.calls = {}
        self.lock = threading.Lock()
        super().__init__(*where)

    def process_request(self, request, client_address):
        # TLS takes the socket away from `request`. What is ended here is the connection itself.
        own = request.dup()
        with self.lock:
            self.calls[request] = (own, time.monotonic())
            for call in list(self.calls.values())[:-CALLS]:
                end(call[0])
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # No thread has begun, which would close it.
            with self.lock:
                self.calls.pop(request)[0].close()
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.calls.pop(request)[0].close()

    def service_actions(self):
        # A peer that sends a byte now and then never times out.
        with self.lock:
            for own, since in self.calls.values():
                if time.monotonic() - since > CALL:
                    end(own)

    def finish_request(self, request, client_address):
        # The files are renewed meanwhile.
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=TLS + '/patroni-ca.crt')
        context.load_cert_chain(TLS + '/patroni.crt', TLS + '/patroni.key')
        context.verify_mode = ssl.CERT_OPTIONAL
        request.settimeout(CALL)
        with context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request, client_address):
        print('import: %s: %r' % (client_address[0], sys.exc_info()[1]), file=sys.stderr, flush=True)


def wanted_cut():
    """The request that is to be carried out. One that was refused stays refused until it is withdrawn."""
    with told.lock:
        wish, told.wish = told.wish, None
    if wish is not None and wish['value'] != record.get('asked'):
        remember(asked=wish['value'], refusal=None)
    return record.get('asked') if record.get('refusal') is None else None


def is_changed():
    """The request that is carried out has been withdrawn, or is another one now."""
    with told.lock:
        return told.wish is not None and told.wish['value'] != record.get('asked')

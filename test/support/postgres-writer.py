"""A client of a PostgresCluster that is not ours: libpq, in threads that insert a row a transaction through the Service.

Each behaves as a plain application does: it connects to the host of the Secret, and anew after any error. An attempt without an
answer is given up after LIMIT seconds. A commit with the warning that it did not wait for a standby is not acknowledged.

It is asked by HTTP, so that neither the API server nor a kubelet is between it and the test. Times are seconds since 1970.
"""
import json
import os
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import psycopg2
import psycopg2.extensions as extensions

PAUSE, AGAIN = 0.02, 0.05
URI, RUN, WRITERS = os.environ['URI'], os.environ['RUN'], int(os.environ['WRITERS'])
SERVICE, LIMIT = os.environ.get('SERVICE'), float(os.environ.get('LIMIT', '2'))
TABLE = 'create table if not exists ledger(run text, writer int, n bigint, note text, primary key(run, writer, n))'

# Behind a pooler each statement may reach another server.
INSERT = 'insert into ledger values (%s, %s, %s, md5(%s)) returning host(inet_server_addr())'


class Late(Exception):
    pass


local = threading.local()


def wait(connection):
    while True:
        state = connection.poll()
        if state == extensions.POLL_OK:
            return
        left = local.until - time.monotonic()
        fd = [connection.fileno()]
        reading, writing = (fd, []) if state == extensions.POLL_READ else ([], fd)
        if left <= 0 or not any(select.select(reading, writing, [], left)):
            raise Late(local.doing)


extensions.set_wait_callback(wait)


def attempt(doing):
    local.doing, local.until = doing, time.monotonic() + LIMIT


def connect(host=None):
    attempt('connect')
    there = host or SERVICE
    connection = psycopg2.connect(URI, application_name='ledger', **({} if there is None else {'host': there}))
    connection.autocommit = True
    return connection


def query(sql, host=None):
    connection = connect(host)
    try:
        cursor = connection.cursor()
        local.until = time.monotonic() + 30
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


lock, going = threading.Lock(), threading.Event()
acknowledged, errors = [], {}


def failed(error):
    words = '%s: %s' % (type(error).__name__, ' '.join(str(error).split())[-160:])
    with lock:
        errors[words] = errors.get(words, 0) + 1


def write(writer):
    n, connection = 0, None
    while True:
        going.wait()
        try:
            if connection is None:
                connection = connect()
                cursor = connection.cursor()
            n += 1
            del connection.notices[:]
            attempt('insert')
            cursor.execute(INSERT, (RUN, writer, n, str(n)))
            server = cursor.fetchone()[0]
            if any('synchronous replication' in notice for notice in connection.notices):
                raise Late('the commit did not wait for a standby')
            with lock:
                acknowledged.append((time.time(), writer, n, server))
            time.sleep(PAUSE)
        except Exception as error:
            failed(error)
            try:
                if connection is not None:
                    connection.close()
            except Exception as again:
                failed(again)
            connection = None
            time.sleep(AGAIN)


def prepare():
    while True:
        try:
            query(TABLE)
            going.set()
            return
        except Exception as error:
            failed(error)
            time.sleep(AGAIN)


class Door(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        given = {name: values[0] for name, values in parse_qs(url.query).items()}
        try:
            status, answer = 200, ANSWERS[url.path](**given)
        except Exception as error:
            status, answer = 500, '%s: %s' % (type(error).__name__, error)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def since(first='0'):
    with lock:
        return {'acknowledged': acknowledged[int(first):int(first) + 20000], 'errors': errors, 'now': time.time()}


ANSWERS = {
    '/acknowledged': since,
    '/query': lambda sql, host=None: query(sql, host),
    '/pause': going.clear,
    '/resume': going.set,
}

threading.Thread(target=prepare, daemon=True).start()
for number in range(WRITERS):
    threading.Thread(target=write, args=(number,), daemon=True).start()
ThreadingHTTPServer(('', 8000), Door).serve_forever()

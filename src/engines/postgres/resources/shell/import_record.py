"""Where an import is on the volume, and what has been done of it. IMPORTED.json is written before what it says is relied on."""
import json
import os
import subprocess

CONFIG = os.environ['CONFIG_DIRECTORY']
DATA = os.environ['DATA_DIRECTORY']
VOLUME = os.path.dirname(DATA)
COPY = os.path.join(VOLUME, 'imported')
RECORD = COPY + '.json'
PROGRAMS = os.environ['PGBIN']
TEMPORARY = os.environ.get('IMPORT_DIRECTORY', '/tmp/import')

record = {}
# What this process has started, and the lock of the volume, which its servers hold as well.
children = []
locks = []


class Refused(Exception):
    """Something is not as it must be. It is looked at again, and nothing is done before a person has changed it."""


class Trouble(Exception):
    """It may pass by itself."""


def short(text, most=400):
    return ' '.join(str(text).split())[:most]


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remember(**facts):
    record.update(facts)
    with open(RECORD + '.new', 'w', encoding='utf8') as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(RECORD + '.new', RECORD)
    sync(VOLUME)


def write(path, text):
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, 'w', encoding='utf8') as file:
        file.write(text)
    return path


def run(command, timeout=30, **options):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=timeout, encoding='utf8', errors='replace', **options)
    except subprocess.TimeoutExpired as error:
        raise Trouble('%s has not answered within %d s' % (os.path.basename(command[0]), timeout)) from error

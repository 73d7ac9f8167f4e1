"""Runs a command while it has the lock of a volume: locked.py DIRECTORY COMMAND...

A pod that somebody has deleted by force may still be at work on its volume while the next one starts. The servers that the
command starts inherit the lock, so it is free only when all of them have ended. It is that of start.sh and import.py. A file system
without locks keeps nobody from working.
"""
import fcntl
import os
import sys

def take_lock(directory):
    """Held until every process that inherits it has ended. NFS locks only what is open for writing."""
    mask = os.umask(0)
    try:
        lock = os.open(os.path.join(directory, 'clusterwright.lock'), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print('another container is still at work on the volume: its end is waited for', file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        os.set_inheritable(lock, True)
    except OSError as error:
        print('the volume cannot be locked: %s' % error, file=sys.stderr, flush=True)
    finally:
        os.umask(mask)


directory, command = sys.argv[1], sys.argv[2:]
take_lock(directory)
os.execv(command[0], command)

"""Runs a command while it has the lock of a directory: locked.py DIRECTORY COMMAND...

A pod that somebody has deleted by force may still be at work on its volume while the next one starts. The servers that the
command starts inherit the lock, so it is free only when all of them have ended.
"""
import fcntl
import os
import sys

directory, command = sys.argv[1], sys.argv[2:]
lock = os.open(directory, os.O_RDONLY)
os.set_inheritable(lock, True)
fcntl.flock(lock, fcntl.LOCK_EX)
os.execv(command[0], command)

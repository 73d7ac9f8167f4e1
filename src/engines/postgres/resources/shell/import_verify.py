"""Whether an import may end: all that the source has written is here, or a person has said where it ends."""
import os
import time

from import_copy import check_prepared
from import_record import COPY, PROGRAMS, Refused, Trouble, record, run, short
from import_report import since, told
from import_source import compared, control, identify, lsn_text

# What libpq says where nobody answers. A server that refuses a login is there, and may be written to.
SILENT = ('Connection refused', 'timeout expired', 'No route to host', 'Network is unreachable', 'could not translate host name',
          'Connection timed out', 'server closed the connection unexpectedly', 'Connection reset')
QUIET = float(os.environ.get('IMPORT_QUIET_SECONDS', '5'))


def verify(follower, value, collations):
    """Whether all that the source has written is here, or a person has said where it ends. Refused in words."""
    asked_for, *words = value.split(',')
    # The operator has compared the UID behind it.
    position = asked_for.split('@')[0]
    source = follower.source
    if collations and 'collations-differ' not in words:
        raise Refused('text is sorted in another way here than at the source, so that indexes on it are wrong until they are rebuilt '
                      '(%s): ask with %s,collations-differ, and run REINDEX afterwards' % ('; '.join(collations), asked_for))
    if follower.sql("select 1 from pg_subscription where subenabled"):
        raise Refused('the source has subscriptions of logical replication that are enabled: both would go on with them; disable them there')
    check_prepared(source)
    try:
        before = compared(identify(source))
    except Trouble as trouble:
        if not any(words in str(trouble) for words in SILENT):
            raise Refused('the source answers, and cannot be asked: %s' % trouble) from trouble
        return verify_alone(follower, position, str(trouble))
    if position != 'verified':
        raise Refused('the source answers: %s is only taken where it does not. Ask with verified@UID' % short(position, 40))
    told.say('cutting-over', message='the source is watched for %g s: it may write nothing any more' % QUIET, **since)
    time.sleep(QUIET)
    after = compared(identify(source))
    until = time.monotonic() + 30
    while follower.end()[1] < after['end']:
        if time.monotonic() > until:
            raise Refused('%d bytes are missing here after 30 s' % (after['end'] - follower.end()[1]))
        time.sleep(0.1)
    if after['end'] != before['end'] and not is_background(before['end'], after['end']):
        raise Refused('the source still writes: its log went from %s to %s within %g s. Stop the clients, or the server in order'
                      % (lsn_text(before['end']), lsn_text(after['end']), QUIET))
    return None


def records(start, end):
    answer = run([PROGRAMS + '/pg_waldump', '--path', COPY + '/pg_wal', '--timeline', str(record['timeline']),
                  '--start', lsn_text(start), '--end', lsn_text(end)], timeout=120)
    return [line for line in answer.stdout.splitlines() if line.startswith('rmgr:')]


def is_background(start, end):
    """A server that nobody writes to notes which transactions run, and makes checkpoints."""
    found = records(start, end)
    return bool(found) and all(line.split()[1] in ('Standby', 'XLOG') for line in found)


def verify_alone(follower, position, why):
    """The source does not answer."""
    until = time.monotonic() + 30
    received_end, replayed, _ = follower.end()
    while received_end != replayed and time.monotonic() < until:
        time.sleep(0.1)
        received_end, replayed, _ = follower.end()
    here = lsn_text(replayed)
    if position == here:
        return
    if position not in ('verified', 'stopped'):
        raise Refused('%s is asked for, and the copy is at %s' % (short(position, 40), here))
    if not ends_in_order(replayed):
        raise Refused('the source does not answer (%s), and was not stopped in order as far as its log is here: it may have written '
                      'more. If what it has beyond %s is to be given up, ask with %s' % (short(why, 200), here, here))
    # It may have been started again where the copy does not reach it. Only a person knows.
    if position != 'stopped':
        raise Refused('the source does not answer (%s), and was stopped in order at %s. If nobody has started it since, '
                      'ask with stopped@UID in place of verified@UID' % (short(why, 200), here))


def ends_in_order(end):
    """The last that a server writes when it is stopped in order is a checkpoint."""
    size = int(control('Bytes per WAL segment'))
    first = max((end - 1) // size * size - size, 0) or size
    # The segment before may not be there.
    lines = records(first, end) or records((end - 1) // size * size, end)
    return bool(lines) and 'CHECKPOINT_SHUTDOWN' in lines[-1]

import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { redisConnection } from '../../../src/engines/redis/client/connection.ts';
import { ProtocolError, RedisError, type Reply } from '../../../src/engines/redis/client/resp.ts';
import { turn } from '../../support/virtual-clock.ts';

function setup() {
  const [ours, theirs] = duplexPair();
  const received: string[] = [];
  theirs.on('data', (chunk: Buffer) => received.push(chunk.toString()));
  return { connection: redisConnection(ours), theirs, received };
}

const ended = 'the connection to Redis has ended';

describe('a connection to a Redis process', () => {
  it('gives replies in the order of the commands, however they arrive', async () => {
    const { connection, theirs, received } = setup();
    const replies = Promise.all([connection.command('GET', 'a'), connection.command('GET', 'b')]);
    await turn();
    expect(received.join('')).toBe('*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n');
    theirs.write('$1\r\n1\r\n$1');
    await turn();
    theirs.write('\r\n2\r\n');
    expect(await replies).toEqual(['1', '2']);
  });

  it('rejects an error reply and goes on', async () => {
    const { connection, theirs } = setup();
    const failing = connection.command('FOO');
    const working = connection.command('PING');
    theirs.write('-ERR unknown command\r\n+PONG\r\n');
    await expect(failing).rejects.toThrow(RedisError);
    expect(await working).toBe('PONG');
  });

  it('an error inside of a list is a value', async () => {
    const { connection, theirs } = setup();
    const reply = connection.command('EXEC');
    theirs.write('*2\r\n+OK\r\n-WRONGTYPE no\r\n');
    expect(await reply).toEqual(['OK', new RedisError('WRONGTYPE no')]);
  });

  it('that ends rejects every command that has no answer yet, and those that come later', async () => {
    const { connection, theirs } = setup();
    const waiting = [connection.command('PING'), connection.command('PING')];
    theirs.end();
    for (const command of waiting) await expect(command).rejects.toThrow(ended);
    await connection.closed;
    await expect(connection.command('PING')).rejects.toThrow(ended);
  });

  it('that breaks tells why', async () => {
    const { connection } = setup();
    const [ours] = duplexPair();
    const broken = redisConnection(ours);
    const command = broken.command('PING');
    ours.destroy(new Error('ECONNRESET'));
    await expect(command).rejects.toMatchObject({ message: ended, cause: { message: 'ECONNRESET' } });
    connection.close();
    await connection.closed;
  });

  it('is cut when the peer does not speak the protocol', async () => {
    const { connection, theirs } = setup();
    const command = connection.command('PING');
    theirs.write('SSH-2.0-OpenSSH\r\n');
    await expect(command).rejects.toMatchObject({ cause: expect.any(ProtocolError) });
    await connection.closed;
  });

  it('hands over what nobody asked for', async () => {
    const { connection, theirs } = setup();
    const pushed: Reply[] = [];
    theirs.write('+nobody listens yet\r\n');
    await turn();
    connection.onPush((message) => pushed.push(message));
    theirs.write('*3\r\n$7\r\nmessage\r\n$7\r\n+reboot\r\n$1\r\nx\r\n');
    await turn();
    expect(pushed).toEqual([['message', '+reboot', 'x']]);
  });
});

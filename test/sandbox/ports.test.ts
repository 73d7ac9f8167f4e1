import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { layoutOf } from '../../src/sandbox/layout.ts';
import { checkPorts, findConflict, type Listener, neededPorts, parseTable } from '../../src/sandbox/ports.ts';
import { freePort } from '../support/free-port.ts';

const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, state: string, inode: string): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000`;

describe("the kernel's socket tables", () => {
  it('tell the listening sockets with address, port and number', () => {
    const text = [header, row('0100007F:192B', '0A', '77'), row('00000000:0016', '0A', '78'), ''].join('\n');
    expect(parseTable(text, 'tcp')).toEqual([
      { protocol: 'tcp', address: '127.0.0.1', port: 6443, inode: '77' },
      { protocol: 'tcp', address: '*', port: 22, inode: '78' },
    ]);
  });

  it('leave out connections that merely use a port', () => {
    expect(parseTable([header, row('0100007F:192B', '01', '77')].join('\n'), 'tcp')).toEqual([]);
  });

  it('tell version 6 sockets that also take version 4 connections', () => {
    const any = '00000000000000000000000000000000';
    const mapped = '0000000000000000FFFF00000100F40A';
    const text = [header, row(`${any}:192B`, '0A', '1'), row(`${mapped}:192B`, '0A', '2')].join('\n');
    expect(parseTable(text, 'tcp').map(({ address }) => address)).toEqual(['*', '10.244.0.1']);
  });

  it('tell UDP sockets, which never listen, by their own state', () => {
    expect(parseTable([header, row('00000000:0035', '07', '5')].join('\n'), 'udp')).toEqual([
      { protocol: 'udp', address: '*', port: 53, inode: '5' },
    ]);
  });
});

describe('a conflict', () => {
  const wanted: Listener = { protocol: 'tcp', address: '10.244.0.1', port: 53 };
  const cases: readonly [string, Listener, boolean][] = [
    ['the same address', { protocol: 'tcp', address: '10.244.0.1', port: 53 }, true],
    ['any address', { protocol: 'tcp', address: '*', port: 53 }, true],
    ['another address', { protocol: 'tcp', address: '127.0.0.53', port: 53 }, false],
    ['another port', { protocol: 'tcp', address: '*', port: 5353 }, false],
    ['the other protocol', { protocol: 'udp', address: '*', port: 53 }, false],
  ];
  it.each(cases)('with %s', (_, listener, conflicts) => {
    expect(findConflict([wanted], [{ ...listener, inode: '1' }]) !== undefined).toBe(conflicts);
  });
});

describe('the check before a start', () => {
  it('names the port and the process that has it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const check = checkPorts([{ protocol: 'tcp', address: '127.0.0.1', port }]);
      await expect(check).rejects.toThrow(new RegExp(`port ${port}/tcp is taken by pid ${process.pid} \\(.*node`));
    } finally {
      server.close();
    }
  });

  it('passes when a port is free', async () => {
    await checkPorts([{ protocol: 'tcp', address: '127.0.0.1', port: await freePort() }]);
  });

  it('asks for fewer ports when there are no nodes', () => {
    const layout = layoutOf({});
    expect(neededPorts(layout, 0).every(({ address }) => address === '127.0.0.1')).toBe(true);
    expect(neededPorts(layout, 3).length).toBeGreaterThan(neededPorts(layout, 1).length);
  });
});

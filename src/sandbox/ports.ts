/**
 * Are the sandbox's ports free, and if not, who has them?
 *
 * Asked of the kernel's own tables before anything is started, so that the answer can name the process.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { apiAddress } from './apiserver.ts';
import { SandboxError } from './error.ts';
import { readIfThere } from './file.ts';
import { addresses, type Layout, nodeLayouts, ports } from './layout.ts';

export interface Listener {
  readonly protocol: 'tcp' | 'udp';
  /** In dotted form; `*` for any address. */
  readonly address: string;
  readonly port: number;
}

export interface TableRow extends Listener {
  /** Number of the socket, as in `/proc/PID/fd`. */
  readonly inode: string;
}

/** What a sandbox of this many nodes will listen on. */
export function neededPorts(layout: Layout, nodes: number): readonly Listener[] {
  const tcp = (address: string, port: number): Listener => ({ protocol: 'tcp', address, port });
  const local = '127.0.0.1';
  const control = [
    tcp(apiAddress(nodes), ports.apiserver),
    tcp(local, ports.etcdClient),
    tcp(local, ports.etcdPeer),
    tcp(local, ports.controllerManager),
  ];
  if (nodes === 0) return control;
  return [
    ...control,
    tcp(local, ports.scheduler),
    tcp(local, ports.proxyHealth),
    tcp(local, ports.proxyMetrics),
    tcp(addresses.bridge, ports.dns),
    { protocol: 'udp', address: addresses.bridge, port: ports.dns },
    ...nodeLayouts(layout, nodes).map((node) => tcp(node.address, node.kubeletPort)),
  ];
}

/** The listening sockets in the text of `/proc/net/tcp` and its like. */
export function parseTable(text: string, protocol: 'tcp' | 'udp'): readonly TableRow[] {
  // 0A is LISTEN; a UDP socket that only receives is in state 07.
  const listening = protocol === 'tcp' ? '0A' : '07';
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [address = '', port = ''] = (fields[1] ?? '').split(':');
      if (fields[3] !== listening || port === '') return [];
      return [{ protocol, address: readAddress(address), port: Number.parseInt(port, 16), inode: fields[9] ?? '' }];
    });
}

/** Four bytes in the machine's order; an address of version 6 is told apart only where it means any, or maps to 4. */
function readAddress(hex: string): string {
  if (/^0+$/.test(hex)) return '*';
  const four = hex.length === 8 ? hex : hex.startsWith('0000000000000000FFFF0000') ? hex.slice(24) : undefined;
  if (four === undefined) return hex;
  const bytes = [6, 4, 2, 0].map((at) => Number.parseInt(four.slice(at, at + 2), 16));
  return bytes.join('.');
}

/** The first socket in the way of a needed port. */
export function findConflict(
  needed: readonly Listener[],
  rows: readonly TableRow[],
): { readonly wanted: Listener; readonly row: TableRow } | undefined {
  for (const wanted of needed) {
    const row = rows.find(
      (each) =>
        each.protocol === wanted.protocol &&
        each.port === wanted.port &&
        (each.address === '*' || each.address === wanted.address),
    );
    if (row !== undefined) return { wanted, row };
  }
  return undefined;
}

/** @throws SandboxError that names the port and the process that has it. */
export async function checkPorts(needed: readonly Listener[]): Promise<void> {
  const tables = await Promise.all(
    (['tcp', 'udp'] as const).flatMap((protocol) =>
      ['', '6'].map(async (suffix) =>
        parseTable((await readIfThere(`/proc/net/${protocol}${suffix}`)) ?? '', protocol),
      ),
    ),
  );
  const conflict = findConflict(needed, tables.flat());
  if (conflict === undefined) return;
  const { wanted, row } = conflict;
  const owner = await socketOwner(row.inode);
  throw new SandboxError(
    `port ${wanted.port}/${wanted.protocol} is taken by ${owner}; the sandbox needs it: stop that process first`,
  );
}

/** `name (pid N)` of the process that holds a socket. */
async function socketOwner(inode: string): Promise<string> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (!(await holds(pid, `socket:[${inode}]`))) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replace(/[\0\s]+/g, ' ').trim();
    return `pid ${pid} (${command.slice(0, 80)})`;
  }
  return 'a process that cannot be seen from here';
}

/** Processes come and go while they are looked at; one that is gone holds nothing. */
async function holds(pid: string, target: string): Promise<boolean> {
  const directory = `/proc/${pid}/fd`;
  const names = await readdir(directory).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${directory}/${name}`).catch(() => '')));
  return links.includes(target);
}

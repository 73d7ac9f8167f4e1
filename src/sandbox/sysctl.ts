/**
 * Kernel settings that the sandbox needs, and those that kubelet and kube-proxy change by themselves: all are noted
 * before the start and put back at the end.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './command.ts';
import { codeOf, SandboxError } from './error.ts';
import { readIfThere } from './file.ts';

/** By path under /proc/sys, value before the sandbox. */
export type Sysctls = Readonly<Record<string, string>>;

const needed: Sysctls = {
  'net/ipv4/ip_forward': '1',
  // Pods share a bridge: without this, Services and cuts between pods of one node do nothing.
  'net/bridge/bridge-nf-call-iptables': '1',
};

const changedByOthers = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
  'net/ipv4/conf/all/route_localnet',
  'net/netfilter/nf_conntrack_tcp_timeout_established',
  'net/netfilter/nf_conntrack_tcp_timeout_close_wait',
  'net/netfilter/nf_conntrack_max',
];

/** The values now. Settings that this kernel has not are left out. */
export async function readSysctls(): Promise<Sysctls> {
  const names = [...Object.keys(needed), ...changedByOthers];
  const values = await Promise.all(names.map(async (name) => [name, await read(name)] as const));
  return Object.fromEntries(values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Loads the bridge filter where it is a module. Call before {@link readSysctls}. */
export async function loadBridgeFilter(): Promise<void> {
  if ((await read('net/bridge/bridge-nf-call-iptables')) !== undefined) return;
  const result = await attempt('modprobe', ['-a', 'br_netfilter', 'overlay']);
  if (result.code !== 0) throw new SandboxError(`this kernel has no br_netfilter: ${result.output.trim()}`);
}

export async function setNeededSysctls(): Promise<void> {
  for (const [name, value] of Object.entries(needed)) await write(name, value);
}

export async function restoreSysctls(before: Sysctls): Promise<void> {
  for (const [name, value] of Object.entries(before)) {
    const now = await read(name);
    if (now !== undefined && now !== value) await write(name, value);
  }
}

async function read(name: string): Promise<string | undefined> {
  return (await readIfThere(join('/proc/sys', name)))?.trim();
}

async function write(name: string, value: string): Promise<void> {
  try {
    await writeFile(join('/proc/sys', name), value);
  } catch (cause) {
    throw new SandboxError(`cannot set ${name} to ${value}: ${codeOf(cause) ?? String(cause)}`, { cause });
  }
}

import { describe, expect, it } from 'vitest';
import { binaryPath, neededPrograms, program } from '../../src/sandbox/binaries.ts';
import { apiserver, controllerManager, etcd } from '../../src/sandbox/controlplane.ts';
import { corednsMain } from '../../src/sandbox/coredns.ts';
import { corefile } from '../../src/sandbox/dns.ts';
import { layoutOf, maxNodes, nodeLayout, nodeLayouts } from '../../src/sandbox/layout.ts';
import { mountsUnder } from '../../src/sandbox/mount.ts';
import { cniConfig } from '../../src/sandbox/network.ts';
import { containerdConfig, kubeletConfig } from '../../src/sandbox/node.ts';
import { kubeconfig, opensslConfig, users } from '../../src/sandbox/pki.ts';
import { sandboxEnv } from '../../src/sandbox/sandbox.ts';
import { texts } from '../../src/sandbox/shell/texts.ts';
import { limitedClass, plainClass, storageClass } from '../../src/sandbox/storage.ts';

const layout = layoutOf({ CLUSTERWRIGHT_CACHE: '/cache' });

describe('the control plane', () => {
  it('listens where only this machine and its pods reach it', () => {
    expect(apiserver(layout, { nodes: 0, audit: false }).args).toContain('--bind-address=127.0.0.1');
    expect(apiserver(layout, { nodes: 3, audit: false }).args).toContain('--bind-address=10.244.0.1');
  });

  it('writes an audit log only when it is asked to', () => {
    const flags = (audit: boolean): readonly string[] =>
      apiserver(layout, { nodes: 3, audit }).args.filter((flag) => flag.startsWith('--audit'));
    expect(flags(false)).toEqual([]);
    expect(flags(true)).toEqual([
      '--audit-policy-file=/run/clusterwright/audit-policy.json',
      '--audit-log-path=/run/clusterwright/log/audit.log',
    ]);
  });

  it('notices a silent node in twenty seconds, and gives up durability for speed', () => {
    expect(controllerManager(layout).args).toContain('--node-monitor-grace-period=20s');
    expect(etcd(layout).args).toContain('--unsafe-no-fsync=true');
    expect(etcd(layout).args).toContain('--quota-backend-bytes=8589934592');
  });

  it('runs alone without what belongs to nodes', () => {
    expect(neededPrograms(0).map(({ name }) => name)).toEqual([
      'etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'kubectl',
    ]);
    expect(neededPrograms(1).map(({ name }) => name)).toContain('kubelet');
  });
});

describe('nodes', () => {
  const nodes = nodeLayouts(layout, maxNodes);

  it('share no directory, port, cgroup or address', () => {
    const own = nodes.map((each) => [each.run, each.data, each.cgroup, each.address, String(each.kubeletPort)]);
    expect(new Set(own.flat()).size).toBe(own.flat().length);
  });

  it('keep to their own directories', () => {
    const node = nodeLayout(layout, 2);
    for (const line of containerdConfig(node).matchAll(/"(\/(?:run|var)\/[^"]*)"/g)) {
      expect(line[1]).toMatch(/^\/(run|var\/lib)\/clusterwright\/node2\//);
    }
    expect(kubeletConfig(layout, node)).toMatchObject({
      cgroupRoot: '/clusterwright/node2',
      podLogsDir: '/var/lib/clusterwright/node2/logs',
      address: '10.244.0.12',
      failCgroupV1: false,
      localStorageCapacityIsolation: false,
    });
  });

  it('start without every capability', () => {
    expect(containerdConfig(nodeLayout(layout, 1))).toContain('restrict_oom_score_adj = true');
  });

  it('hand out addresses of their own range on the common bridge', () => {
    expect(cniConfig(nodeLayout(layout, 3))).toMatchObject({
      plugins: [
        { bridge: 'clusterwright0', ipam: { ranges: [[{ rangeStart: '10.244.3.2', rangeEnd: '10.244.3.250' }]] } },
      ],
    });
  });
});

describe('keys', () => {
  it('name every address under which a server is reached', () => {
    const config = opensslConfig();
    expect(config).toMatch(/\[apiserver\][^[]*subjectAltName=.*IP:127\.0\.0\.1,IP:10\.96\.0\.1,IP:10\.244\.0\.1/);
    expect(config).toMatch(/\[kubelet\][^[]*IP:10\.244\.0\.11,.*IP:10\.244\.0\.19/);
  });

  it('have a user for every kubelet, in the group by which it is authorized', () => {
    expect(users.find(({ name }) => name === 'node9')).toMatchObject({
      user: 'system:node:node9',
      group: 'system:nodes',
    });
  });

  it('make a kubeconfig that needs no other file', () => {
    expect(JSON.parse(kubeconfig('https://10.244.0.1:6443', 'PEM', 'secret'))).toMatchObject({
      clusters: [{ cluster: { server: 'https://10.244.0.1:6443', 'certificate-authority-data': 'UEVN' } }],
      users: [{ user: { token: 'secret' } }],
      'current-context': 'clusterwright-sandbox',
    });
  });
});

describe('the environment', () => {
  it('puts kubectl first, once, however often it is asked', () => {
    const once = sandboxEnv(layout, '/usr/bin:/bin');
    expect(once).toEqual({
      KUBECONFIG: '/run/clusterwright/admin.kubeconfig',
      PATH: '/cache/bin/kubernetes-v1.35.4:/usr/bin:/bin',
    });
    expect(sandboxEnv(layout, once.PATH)).toEqual(once);
  });
});

describe('programs', () => {
  it('of two versions, or changed ones, have places of their own', () => {
    expect(binaryPath(layout, 'kubelet')).toBe('/cache/bin/kubernetes-v1.35.4/kubelet');
    expect(program('coredns').source.main).toBeDefined();
    expect(binaryPath(layout, 'coredns')).toContain('-own-main/');
  });

  it('CoreDNS answers names of the cluster only, from the bridge', () => {
    expect(corefile(layout)).toContain('bind 10.244.0.1');
    expect(corefile(layout)).not.toContain('forward');
  });

  it('CoreDNS knows every directive of its configuration', () => {
    const directives = [...corefile(layout).matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
    expect(directives).toEqual(['bind', 'errors', 'kubernetes']);
    for (const name of directives) expect(corednsMain).toContain(`coredns/plugin/${name}"`);
  });
});

describe('storage', () => {
  it('keeps limited volumes apart, of a class that can grow', async () => {
    const classes = [storageClass(plainClass, {}, false), storageClass(limitedClass, {}, true)];
    expect(classes.map(({ allowVolumeExpansion }) => allowVolumeExpansion)).toEqual([false, true]);
    for (const { metadata, provisioner } of classes) {
      expect(texts['volumes.sh']).toContain(`${metadata.name}) echo`);
      expect(texts['volumes.sh']).toContain(`provisioner=${provisioner}\n`);
    }
  });
});

describe('mounts', () => {
  it('below the directories are found, the innermost first, with their real names', () => {
    const line = (point: string): string => `22 27 0:21 / ${point} rw,relatime - tmpfs tmpfs rw`;
    const text = ['/run', '/run/clusterwright/a', '/run/clusterwright/a/b\\040c', '/run/clusterwrighty']
      .map(line)
      .join('\n');
    expect(mountsUnder(text, ['/run/clusterwright'])).toEqual(['/run/clusterwright/a/b c', '/run/clusterwright/a']);
  });
});

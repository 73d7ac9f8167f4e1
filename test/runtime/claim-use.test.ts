/** Who uses a claim, as the API server tells. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { claimReader } from '../../src/runtime/claim-use.ts';
import type { ListPage } from '../../src/runtime/client.ts';

const claim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'backups', namespace: 'apps' },
};
const pod = (name: string, claimName: string, phase = 'Running'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    volumes: [
      { name: 'v', persistentVolumeClaim: { claimName } },
      { name: 'w', emptyDir: {} },
    ],
  },
  status: { phase },
});
const set: KubeObject = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'pg' } };
const { signal } = new AbortController();

describe('who uses a claim', () => {
  it('is found on every page, and is nobody who has ended', async () => {
    const pages: readonly (readonly KubeObject[])[] = [
      [pod('a', 'other'), pod('b', 'backups', 'Succeeded'), pod('c', 'backups', 'Failed')],
      [pod('d', 'backups', 'Pending')],
    ];
    const read = claimReader({
      get: async () => claim,
      list: async ({ kind }, options): Promise<ListPage> => {
        if (kind === 'StatefulSet') return { items: [set], resourceVersion: '1' };
        const at = Number(options?.continue ?? 0);
        const more = at + 1 < pages.length ? { continue: String(at + 1) } : {};
        return { items: [...(pages[at] ?? [])], resourceVersion: '1', ...more };
      },
    });
    const found = await read('apps', 'backups', signal);
    expect(found).toEqual({ claim, pods: [pod('d', 'backups', 'Pending')], sets: [set] });
  });

  it('is nobody’s business where there is none, and is not guessed where nobody may ask', async () => {
    const list = async (): Promise<ListPage> => ({ items: [], resourceVersion: '1' });
    const failing = (status: number) =>
      claimReader({
        list,
        get: () => Promise.reject(new ApiError({ status, method: 'GET', path: '/x', reason: 'r', message: 'm' })),
      });
    await expect(failing(404)('apps', 'backups', signal)).resolves.toBeUndefined();
    await expect(failing(403)('apps', 'backups', signal)).rejects.toThrow(ApiError);
  });
});

import { describe, expect, it } from 'vitest';
import { computeResources } from '../../src/resources/compute.ts';
import { schedulingFields } from '../../src/resources/scheduling.ts';
import { clusterIPService, headlessService } from '../../src/resources/service.ts';
import { statefulSet } from '../../src/resources/statefulset.ts';

const metadata = { name: 'db', labels: { part: 'data' } };

describe('CPU and memory', () => {
  it.each([
    [{ requests: { cpu: 0.5, memory: '1024Mi' } }, { requests: { cpu: '500m', memory: '1Gi' } }],
    [{ limits: { cpu: '2000m', memory: undefined } }, { limits: { cpu: '2' } }],
    [{}, {}],
  ])('%j is written as the API server stores it', (spec, written) => expect(computeResources(spec)).toEqual(written));
});

describe('where pods go', () => {
  it.each([
    ['Preferred', 'ScheduleAnyway'],
    ['Required', 'DoNotSchedule'],
  ] as const)('%s spread over nodes: %s', (topologySpread, whenUnsatisfiable) => {
    expect(schedulingFields({ topologySpread }, { part: 'data' })).toEqual({
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable,
          labelSelector: { matchLabels: { part: 'data' } },
        },
      ],
    });
  });

  it('the constraints of the user are added', () => {
    const own = { nodeSelector: { disk: 'ssd' }, tolerations: [{ operator: 'Exists' }], priorityClassName: 'high' };
    expect(schedulingFields({ topologySpread: 'Preferred', ...own }, {})).toMatchObject(own);
  });
});

describe('a Service', () => {
  const options = { metadata, selector: { part: 'data' }, ports: [] };

  it('that names pods shows them before they are ready: members must find each other', () => {
    expect(headlessService(options).spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
  });

  it('that gives a role an address shows ready pods only', () => {
    expect(clusterIPService(options).spec).toEqual({ type: 'ClusterIP', selector: { part: 'data' }, ports: [] });
  });
});

describe('a StatefulSet', () => {
  const options = { metadata, selector: { part: 'data' }, serviceName: 'db', replicas: 3, podSpec: { containers: [] } };

  it('restarts nobody by itself, starts all at once, and keeps its claims', () => {
    const claims = [{ name: 'data' as const, labels: {}, size: '1Gi' }];
    expect(statefulSet({ ...options, claims }).spec).toMatchObject({
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1Gi' } } } }],
    });
  });

  it('without claims says nothing about them', () => {
    const { spec } = statefulSet({ ...options, claims: [] });
    expect(spec).not.toHaveProperty('volumeClaimTemplates');
    expect(spec).not.toHaveProperty('persistentVolumeClaimRetentionPolicy');
  });
});

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { redisCluster } from '../../support/redis-situation.ts';

/**
 * Whatever changes in a pod template restarts every pod of every cluster when the operator is upgraded. A change of these
 * snapshots is a decision that belongs into the changelog, not a chore.
 */
function statefulSet(name: string, spec: RedisSpecInput = {}): unknown {
  return redisResources(redisCluster(spec)).find(
    ({ object }) => object.kind === 'StatefulSet' && object.metadata.name === name,
  )?.object;
}

const template = (name: string, spec?: RedisSpecInput): unknown =>
  (statefulSet(name, spec) as { spec: { template: unknown } }).spec.template;

describe('a golden pod template', () => {
  it('of a data node, in its StatefulSet', () => {
    expect(
      stringify(statefulSet('db', { version: '8.0', storage: { size: '1Gi', storageClassName: 'fast' } })),
    ).toMatchInlineSnapshot(`
      "apiVersion: apps/v1
      kind: StatefulSet
      metadata:
        name: db
        namespace: apps
        labels: &a1
          app.kubernetes.io/name: redis
          app.kubernetes.io/instance: db
          app.kubernetes.io/component: data
          app.kubernetes.io/managed-by: clusterwright
          app.kubernetes.io/part-of: db
          app.kubernetes.io/version: "8.0"
        ownerReferences:
          - apiVersion: clusterwright.dev/v1alpha1
            kind: RedisCluster
            name: db
            uid: uid-db
            controller: true
            blockOwnerDeletion: true
      spec:
        serviceName: db
        replicas: 3
        podManagementPolicy: Parallel
        updateStrategy:
          type: OnDelete
        revisionHistoryLimit: 3
        selector:
          matchLabels:
            app.kubernetes.io/name: redis
            app.kubernetes.io/instance: db
            app.kubernetes.io/component: data
            app.kubernetes.io/managed-by: clusterwright
        template:
          metadata:
            labels: *a1
            annotations:
              clusterwright.dev/restart-hash: 7fd82b9e34902363
          spec:
            automountServiceAccountToken: false
            enableServiceLinks: false
            securityContext:
              runAsNonRoot: true
              runAsUser: 10001
              runAsGroup: 10001
              fsGroup: 10001
              fsGroupChangePolicy: OnRootMismatch
              seccompProfile:
                type: RuntimeDefault
            topologySpreadConstraints:
              - maxSkew: 1
                topologyKey: kubernetes.io/hostname
                whenUnsatisfiable: ScheduleAnyway
                labelSelector:
                  matchLabels:
                    app.kubernetes.io/name: redis
                    app.kubernetes.io/instance: db
                    app.kubernetes.io/component: data
                    app.kubernetes.io/managed-by: clusterwright
            terminationGracePeriodSeconds: 45
            containers:
              - name: redis
                image: docker.io/library/redis:8.0
                imagePullPolicy: IfNotPresent
                env:
                  - name: CLUSTER_NAME
                    value: db
                  - name: CONFIG_DIR
                    value: /etc/clusterwright/config
                  - name: AUTH_FILE
                    value: /etc/clusterwright/auth/password
                  - name: IDENTITY_FILE
                    value: /etc/clusterwright/internal/password
                  - name: POD_NAME
                    valueFrom:
                      fieldRef:
                        fieldPath: metadata.name
                  - name: POD_NAMESPACE
                    valueFrom:
                      fieldRef:
                        fieldPath: metadata.namespace
                  - name: POD_IP
                    valueFrom:
                      fieldRef:
                        fieldPath: status.podIP
                  - name: TLS_DIR
                    value: /etc/clusterwright/tls
                  - name: DATABASES
                    value: "16"
                securityContext:
                  allowPrivilegeEscalation: false
                  readOnlyRootFilesystem: true
                  capabilities:
                    drop:
                      - ALL
                volumeMounts:
                  - name: config
                    mountPath: /etc/clusterwright/config
                    readOnly: true
                  - name: auth
                    mountPath: /etc/clusterwright/auth
                    readOnly: true
                  - name: internal
                    mountPath: /etc/clusterwright/internal
                    readOnly: true
                  - name: run
                    mountPath: /run/redis
                  - name: tmp
                    mountPath: /tmp
                  - name: tls
                    mountPath: /etc/clusterwright/tls
                    readOnly: true
                  - name: data
                    mountPath: /data
                command:
                  - /bin/sh
                  - /etc/clusterwright/config/start-data.sh
                ports:
                  - name: redis
                    containerPort: 6379
                    protocol: TCP
                  - name: redis-tls
                    containerPort: 6380
                    protocol: TCP
                resources:
                  requests:
                    cpu: 100m
                  limits:
                    memory: 512Mi
                startupProbe:
                  exec:
                    command:
                      - /bin/sh
                      - /etc/clusterwright/config/admit.sh
                  timeoutSeconds: 5
                  periodSeconds: 1
                  failureThreshold: 86400
                readinessProbe:
                  exec:
                    command:
                      - /bin/sh
                      - /etc/clusterwright/config/ping.sh
                  timeoutSeconds: 5
                  periodSeconds: 5
                  failureThreshold: 2
                livenessProbe:
                  exec:
                    command:
                      - /bin/sh
                      - /etc/clusterwright/config/alive.sh
                  timeoutSeconds: 5
                  periodSeconds: 10
                  failureThreshold: 6
                lifecycle:
                  preStop:
                    exec:
                      command:
                        - /bin/sh
                        - /etc/clusterwright/config/hand-over.sh
            volumes:
              - name: config
                configMap:
                  name: db-config
              - name: auth
                secret:
                  secretName: db-auth
                  items:
                    - key: password
                      path: password
              - name: internal
                secret:
                  secretName: db-internal
                  items:
                    - key: password
                      path: password
              - name: run
                emptyDir:
                  medium: Memory
                  sizeLimit: 1Mi
              - name: tmp
                emptyDir:
                  sizeLimit: 16Mi
              - name: tls
                secret:
                  secretName: db-shown-tls
                  optional: true
                  defaultMode: 288
        persistentVolumeClaimRetentionPolicy:
          whenDeleted: Retain
          whenScaled: Retain
        volumeClaimTemplates:
          - metadata:
              name: data
              labels:
                app.kubernetes.io/name: redis
                app.kubernetes.io/instance: db
                app.kubernetes.io/component: data
                app.kubernetes.io/managed-by: clusterwright
            spec:
              accessModes:
                - ReadWriteOnce
              resources:
                requests:
                  storage: 1Gi
              storageClassName: fast
      "
    `);
  });

  it('of a sentinel', () => {
    expect(stringify(template('db-sentinel', { version: '8.0' }))).toMatchInlineSnapshot(`
      "metadata:
        labels:
          app.kubernetes.io/name: redis
          app.kubernetes.io/instance: db
          app.kubernetes.io/component: sentinel
          app.kubernetes.io/managed-by: clusterwright
          app.kubernetes.io/part-of: db
          app.kubernetes.io/version: "8.0"
      spec:
        automountServiceAccountToken: false
        enableServiceLinks: false
        securityContext:
          runAsNonRoot: true
          runAsUser: 10001
          runAsGroup: 10001
          fsGroup: 10001
          fsGroupChangePolicy: OnRootMismatch
          seccompProfile:
            type: RuntimeDefault
        topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector:
              matchLabels:
                app.kubernetes.io/name: redis
                app.kubernetes.io/instance: db
                app.kubernetes.io/component: sentinel
                app.kubernetes.io/managed-by: clusterwright
        terminationGracePeriodSeconds: 10
        containers:
          - name: sentinel
            image: docker.io/library/redis:8.0
            imagePullPolicy: IfNotPresent
            env:
              - name: CLUSTER_NAME
                value: db
              - name: CONFIG_DIR
                value: /etc/clusterwright/config
              - name: AUTH_FILE
                value: /etc/clusterwright/auth/password
              - name: IDENTITY_FILE
                value: /etc/clusterwright/internal/password
              - name: POD_NAME
                valueFrom:
                  fieldRef:
                    fieldPath: metadata.name
              - name: POD_NAMESPACE
                valueFrom:
                  fieldRef:
                    fieldPath: metadata.namespace
              - name: POD_IP
                valueFrom:
                  fieldRef:
                    fieldPath: status.podIP
            securityContext:
              allowPrivilegeEscalation: false
              readOnlyRootFilesystem: true
              capabilities:
                drop:
                  - ALL
            volumeMounts:
              - name: config
                mountPath: /etc/clusterwright/config
                readOnly: true
              - name: auth
                mountPath: /etc/clusterwright/auth
                readOnly: true
              - name: internal
                mountPath: /etc/clusterwright/internal
                readOnly: true
              - name: run
                mountPath: /run/redis
              - name: tmp
                mountPath: /tmp
            command:
              - /bin/sh
              - /etc/clusterwright/config/start-sentinel.sh
            ports:
              - name: sentinel
                containerPort: 26379
                protocol: TCP
            resources:
              requests:
                cpu: 20m
              limits:
                memory: 64Mi
            startupProbe:
              exec:
                command:
                  - /bin/sh
                  - /etc/clusterwright/config/watching.sh
              timeoutSeconds: 5
              periodSeconds: 1
              failureThreshold: 86400
            readinessProbe:
              exec:
                command:
                  - /bin/sh
                  - /etc/clusterwright/config/watching.sh
              timeoutSeconds: 5
              periodSeconds: 10
              failureThreshold: 2
            livenessProbe:
              exec:
                command:
                  - /bin/sh
                  - /etc/clusterwright/config/sentinel-alive.sh
              timeoutSeconds: 5
              periodSeconds: 10
              failureThreshold: 6
        volumes:
          - name: config
            configMap:
              name: db-config
          - name: auth
            secret:
              secretName: db-auth
              items:
                - key: password
                  path: password
          - name: internal
            secret:
              secretName: db-internal
              items:
                - key: password
                  path: password
          - name: run
            emptyDir:
              medium: Memory
              sizeLimit: 1Mi
          - name: tmp
            emptyDir:
              sizeLimit: 16Mi
      "
    `);
  });

  it.each<readonly [change: string, spec: RedisSpecInput]>([
    ['more data nodes', { replicas: 5 }],
    ['more sentinels', { sentinel: { replicas: 5, quorum: 3 } }],
    ['settings of the sentinels', { sentinel: { downAfter: '9s', failoverTimeout: '90s' } }],
    ['a directive that servers can change', { config: { maxmemory: '1mb', timeout: 9 } }],
    ['larger volumes', { storage: { size: '9Gi' } }],
    ['the policy for deletion', { deletionPolicy: 'Delete' }],
    ['a pause', { paused: true }],
  ])('does not change with %s', (_, spec) => {
    expect(template('db', spec)).toEqual(template('db'));
    expect(template('db-sentinel', spec)).toEqual(template('db-sentinel'));
  });

  it('of a sentinel does not change with the memory of the data nodes, nor the other way round', () => {
    const limits = { resources: { limits: { memory: '4Gi' } } };
    expect(template('db-sentinel', limits)).toEqual(template('db-sentinel'));
    expect(template('db', { sentinel: limits })).toEqual(template('db'));
  });
});

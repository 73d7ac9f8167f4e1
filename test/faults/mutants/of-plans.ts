/** Defects of what is decided: for every engine, and for Redis. */
import type { Mutant } from './mutant.ts';

export const planMutants: readonly Mutant[] = [
  {
    id: 'rollout-outside-of-window',
    defect: 'a rollout begins outside of the maintenance windows',
    edits: [
      {
        file: 'plan/rollout-gate.ts',
        find: 'if (closed !== undefined) return closed;',
        replace: 'void closed;',
      },
    ],
    scenarios: ['S4 window'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'correction-waits-for-window',
    defect: 'the correction of an image that does not start waits for a maintenance window',
    edits: [
      {
        file: 'plan/template-write.ts',
        find: 'if (isOutdated(live, children) || pods.some((pod) => cannotStart(pod) && mayBeStuck(pod))) return true;',
        replace: '',
      },
      { file: 'plan/rollout-gate.ts', find: ' && !follows(write)', replace: '' },
    ],
    scenarios: ['S14 window'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'policy-ignored',
    defect: 'a deleted cluster takes its data along, whatever the policy says',
    seen: 'zookeeper #312 and its kind',
    edits: [
      {
        file: 'plan/deletion.ts',
        find: 'const wanted = takesData(cluster);',
        replace: 'const wanted = true;',
      },
      { file: 'plan/deletion.ts', find: 'if (!takesData(cluster)) {', replace: 'if (false) {' },
    ],
    scenarios: ['S11 retain'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'data-left-behind',
    defect: 'the finalizer goes before the data is gone',
    seen: 'zookeeper #410',
    edits: [
      {
        file: 'plan/deletion.ts',
        find: 'if (claims.length > 0 || data.length > 0) {',
        replace: 'if (false) {',
      },
    ],
    scenarios: ['S11 delete'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'copies-deleted',
    defect: 'a deleted cluster takes along what somebody has copied from its volumes',
    edits: [
      {
        file: 'plan/deletion.ts',
        find: 'return claims.filter((claim) => isOfPod(claim, metadata.name));',
        replace: 'return claims;',
      },
    ],
    scenarios: ['S11 delete'],
    classes: ['F15'],
    oracle: 'O4',
  },
  {
    id: 'data-before-processes',
    defect: 'volumes and password are deleted while the processes still run',
    edits: [
      {
        file: 'plan/deletion.ts',
        find: 'if (sets.length > 0 || pods.length > 0) {',
        replace: 'if (sets.length > 0) {',
      },
    ],
    scenarios: ['S11 delete'],
    classes: ['F1', 'F8'],
    oracle: 'O4',
  },
  {
    id: 'subset-compare',
    defect: 'what was added to our labels, or taken away, is not noticed',
    seen: 'tidb #4942, minio #2038, acto #84',
    edits: [
      {
        file: 'plan/difference.ts',
        find: 'for (const [key, value] of Object.entries(wanted)) compare(step(path, key), value, has[key], changes);',
        replace:
          "for (const [key, value] of Object.entries(wanted)) if (key !== 'labels') compare(step(path, key), value, has[key], changes);",
      },
    ],
    scenarios: ['S2'],
    classes: ['F15'],
    oracle: 'O2',
  },
  {
    id: 'several-at-once',
    defect: 'the next pod restarts while the last one is not back',
    seen: 'opensearch-k8s-operator #1471',
    edits: [
      {
        file: 'engines/redis/plan/plan.ts',
        find: "if (problems.length > 0) return unfinished([], wait('MembersNotReady', problems.join('; '), recheckMs));",
        replace: 'void problems;',
      },
    ],
    scenarios: ['S4'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'primary-not-last',
    defect: 'the primary restarts like any other pod, without handing over',
    seen: 'spotahome #269',
    edits: [
      {
        file: 'engines/redis/plan/plan.ts',
        find: 'if (!isPrimary(next, primary)) return restarting(next);',
        replace: 'return restarting(next);',
      },
    ],
    scenarios: ['S4'],
    classes: ['F16'],
    oracle: 'O4',
  },
  {
    id: 'scale-in-over-primary',
    defect: 'a set shrinks over its primary',
    seen: 'OT cluster-scaling.go:284',
    edits: [
      {
        file: 'engines/redis/plan/scaling.ts',
        find: 'if (!toScaleIn.has(primary.pod)) return undefined;',
        replace: 'return undefined;',
      },
      {
        file: 'engines/redis/plan/scaling.ts',
        find: 'if (dataSize > spec.replicas && !primaryIsLeaving) return { data: dataSize - 1, sentinels };',
        replace: 'if (dataSize > spec.replicas) return { data: dataSize - 1, sentinels };\n  void primaryIsLeaving;',
      },
    ],
    scenarios: ['S3 primary'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'all-leave-at-once',
    defect: 'all members too many leave in one step',
    edits: [
      {
        file: 'engines/redis/plan/scaling.ts',
        find: 'if (dataSize > spec.replicas && !primaryIsLeaving) return { data: dataSize - 1, sentinels };',
        replace: 'if (dataSize > spec.replicas && !primaryIsLeaving) return { data: spec.replicas, sentinels };',
      },
    ],
    scenarios: ['S3'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'missing-pod-is-scale-in',
    defect: 'a pod that is away counts as one that is not wanted',
    seen: 'etcd-operator #193',
    edits: [
      {
        file: 'engines/redis/plan/scaling.ts',
        find: 'const data = Math.max(spec.replicas, dataSize);',
        replace:
          'const data = Math.max(1, dataPods.length) < spec.replicas && topology.primary !== undefined ? dataPods.length : Math.max(spec.replicas, dataSize);',
      },
    ],
    scenarios: ['S9 replica', 'S9 primary', 'S4'],
    classes: ['F9', 'F1'],
    oracle: 'O4',
  },
  {
    id: 'two-primaries-labelled',
    defect: 'the new primary gets its label before the old one has lost it',
    seen: 'CNPG #11114, #11293',
    edits: [
      {
        file: 'engines/redis/plan/roles.ts',
        find: 'return [...first, ...last].map(({ step }) => step);',
        replace: 'return [...last, ...first].map(({ step }) => step);',
      },
    ],
    scenarios: ['S9 primary', 'S4'],
    classes: ['F16', 'F1'],
    oracle: 'O6',
  },
  {
    id: 'unpause-after-asking',
    defect: 'writes go on while Sentinel promotes another',
    seen: '10,071 acknowledged writes lost in our own 5→3, see ADR 8',
    edits: [
      {
        file: 'engines/redis/act/switchover.ts',
        find: 'const promoted = await whoeverIsPromoted(action.replicas, credentials, io, patience);',
        replace:
          "await primary.command('CLIENT', 'UNPAUSE');\n    const promoted = await whoeverIsPromoted(action.replicas, credentials, io, patience);",
      },
    ],
    scenarios: ['S4', 'S3'],
    classes: ['F16', 'F2'],
    oracle: 'O5',
  },
  {
    id: 'always-ready',
    defect: 'it says ready whatever it sees',
    seen: 'cozystack PR #343',
    edits: [
      {
        file: 'engines/redis/status/judgement.ts',
        find: 'if (isServed && isReachable && problems.length === 0 && !isChanging && !isGrowing) {',
        replace:
          'if (initialized || (isServed && isReachable && problems.length === 0 && !isChanging && !isGrowing)) {',
      },
    ],
    scenarios: ['S9 primary', 'S10 primary', 'S4'],
    classes: ['F16'],
    oracle: 'O8',
  },
  {
    id: 'unknown-members-kept',
    defect: 'sentinels never forget who is gone',
    seen: 'redis #15136, OT #145',
    edits: [
      {
        file: 'engines/redis/plan/plan.ts',
        find: 'if (forgetting !== undefined)',
        replace: 'if (forgetting !== undefined && false)',
      },
    ],
    scenarios: ['S3'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'election-ignores-volumes',
    defect: 'after a power failure of all nodes the primary is whom the operator saw last, whatever the volumes say',
    seen: 'clusterwright, before commit 0353bc1',
    edits: [
      {
        file: 'engines/redis/observe/situation.ts',
        find: 'return Math.max(termOf(claimOf(children, pod)), term?.wasPrimary === true ? term.number : 0);',
        replace: 'return termOf(claimOf(children, pod));',
      },
      {
        file: 'engines/redis/plan/election.ts',
        find: '(node.term?.number ?? 0) > term ||',
        replace: '',
      },
    ],
    scenarios: ['S15 power'],
    classes: ['F1'],
    oracle: 'O5',
  },
  {
    id: 'known-before-used',
    defect:
      'a sentinel is told of the identity before it is told to log in as it, so one that heard the first alone is never told the rest',
    edits: [
      {
        file: 'engines/redis/act/act.ts',
        find: "  await connection.command('SENTINEL', 'SET', name, ...login, ...Object.entries(settings).flatMap(words));\n  if (!asCluster) return;\n  await connection.command('ACL', 'SETUSER', ...aclRule(known(credentials)));",
        replace:
          "  if (asCluster) await connection.command('ACL', 'SETUSER', ...aclRule(known(credentials)));\n  await connection.command('SENTINEL', 'SET', name, ...login, ...Object.entries(settings).flatMap(words));\n  if (!asCluster) return;",
      },
    ],
    scenarios: ['S16 older'],
    classes: ['F2', 'F16'],
    oracle: 'O1',
  },
  {
    id: 'unusable-password-unsaid',
    defect: 'nobody says that the password in the Secret is of no use',
    edits: [
      {
        file: 'engines/redis/plan/plan.ts',
        find: 'const held = problem ?? awaitsPasswords(situation) ',
        replace: 'const held = awaitsPasswords(situation) ',
      },
    ],
    scenarios: ['S7 unusable'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'former-password-kept',
    defect: 'the password of before is accepted for ever',
    edits: [
      {
        file: 'engines/redis/plan/plan.ts',
        find: 'if (retirement.length > 0) return',
        replace: 'if (retirement.length > 99) return',
      },
    ],
    scenarios: ['S7 password'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'sentinels-meet-by-password',
    defect: 'sentinels of an older cluster log in to each other with the password of the clients for ever',
    edits: [
      {
        file: 'engines/redis/plan/introduce.ts',
        find: "const [sentinel] = sentinels.filter((one) => !hasAll(one, 'peers'));",
        replace: "const [sentinel] = sentinels.filter((one) => !hasAll(one, 'peers') && !hasAll(one, 'identity'));",
      },
    ],
    scenarios: ['S16 older'],
    classes: ['F1'],
    oracle: 'O1',
  },
];

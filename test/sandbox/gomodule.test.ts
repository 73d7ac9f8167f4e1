import { describe, expect, it } from 'vitest';
import { program } from '../../src/sandbox/binaries.ts';
import { linkerFlags } from '../../src/sandbox/compile.ts';
import { kubernetesModule } from '../../src/sandbox/gomodule.ts';

const text = `module k8s.io/kubernetes

go 1.25.0

require (
	github.com/spf13/cobra v1.10.0
	k8s.io/api v0.0.0
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/apimachinery => ./staging/src/k8s.io/apimachinery
)

replace example.org/fork => example.org/fixed v1.2.3
`;

describe("Kubernetes' module", () => {
  const made = kubernetesModule(text, { name: 'kubernetes', module: 'k8s.io/kubernetes', version: 'v1.35.4' });

  it('takes every staging module from its published twin', () => {
    expect(made).toContain('\tk8s.io/api => k8s.io/api v0.35.4\n');
    expect(made).toContain('\tk8s.io/apimachinery => k8s.io/apimachinery v0.35.4\n');
    expect(made).not.toContain('./');
  });

  it('keeps requirements and other replacements as they were released', () => {
    expect(made).toContain('github.com/spf13/cobra v1.10.0');
    expect(made).toContain('replace example.org/fork => example.org/fixed v1.2.3');
  });

  it('requires Kubernetes itself, under a name of its own', () => {
    expect(made).toMatch(/^module clusterwright\.dev\/sandbox$/m);
    expect(made).toMatch(/^require k8s\.io\/kubernetes v1\.35\.4$/m);
  });
});

describe('the linker', () => {
  it('puts the version into programs of Kubernetes only', () => {
    expect(linkerFlags(program('kubectl'))).toContain('gitVersion=v1.35.4 ');
    expect(linkerFlags(program('kubectl'))).toContain('gitMinor=35');
    expect(linkerFlags(program('etcd'))).toBe('-s -w');
  });
});

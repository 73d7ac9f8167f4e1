/**
 * A Backup in a user's own cdk8s app, checked at synth by the same rules as in the API server. What is written to the
 * manifest is what the user wrote.
 */
import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { type BackupSpecInput, backupKind } from '../api/backup.ts';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import { plainObject } from './plain-object.ts';

export interface BackupProps {
  readonly metadata: {
    /** At most 40 characters. */
    readonly name: string;
    /** That of the cluster. Default: what kubectl or the GitOps tool chooses. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: BackupSpecInput;
}

export class Backup extends Construct {
  readonly apiObject: ApiObject;

  constructor(scope: Construct, id: string, { metadata, spec }: BackupProps) {
    super(scope, id);
    const { resource } = backupKind;
    const object: KubeObject = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec };
    this.apiObject = plainObject(this, 'Resource', object);
    this.node.addValidation({
      validate: () => {
        const verdict = validateCluster(backupKind, object);
        return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
      },
    });
  }
}

/** Labels and annotations of a user beside ours, which stay: selectors and aggregated roles depend on them. */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';

export interface ExtraMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** On every object below `scope`. */
export function addMetadata(scope: Construct, { labels, annotations }: ExtraMetadata): void {
  for (const object of scope.node.findAll()) {
    if (!ApiObject.isApiObject(object)) continue;
    const { metadata } = object;
    const ours = metadata.toJson() as { readonly annotations?: object } | undefined;
    for (const [key, value] of Object.entries(labels)) {
      if (metadata.getLabel(key) === undefined) metadata.addLabel(key, value);
    }
    for (const [key, value] of Object.entries(annotations)) {
      if (!(key in (ours?.annotations ?? {}))) metadata.addAnnotation(key, value);
    }
  }
}

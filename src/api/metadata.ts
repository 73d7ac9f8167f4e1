/**
 * The part of `metadata` that a kind may restrict: the name, from which every child's name is derived. The node itself
 * takes no description: the API server has its own.
 */
import type { StructuralSchema } from './schema.ts';

/**
 * Longest name of a custom resource. The longest child name adds 21 characters (`NAME-sentinel-` and a pod's hash), and
 * every one must fit a DNS label of 63.
 */
export const maxNameLength = 40;

export const metadataSchema = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      description: 'Name of the cluster: lower-case letters, digits and dashes, starting with a letter.',
      pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
      maxLength: maxNameLength,
    },
  },
} as const satisfies StructuralSchema;

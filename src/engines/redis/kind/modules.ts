/** `modules`: whether servers load the modules of their image. A server does not read what a module has written without that module. */
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';

export const modulesSchema = {
  type: 'string',
  description:
    'Modules that the Redis nodes load. None: no module. Bundled: each module of the image, such as search, JSON, time series and Bloom filters in the image of Redis 8. It can change from None to Bundled, and not back.',
  enum: ['None', 'Bundled'],
  default: 'None',
  'x-kubernetes-validations': [
    {
      rule: "self == oldSelf || self == 'Bundled'",
      message:
        'modules cannot change from Bundled to None: a server cannot read what modules have written without them',
    },
  ],
} as const satisfies StructuralSchema;

/** On `spec`. */
export const moduleRules: readonly CelRule[] = [
  {
    rule: "self.engine == oldSelf.engine || oldSelf.modules == 'None'",
    message:
      'engine cannot change with modules: the modules of one engine do not read what those of the other have written',
    fieldPath: '.engine',
  },
];

/** The name of a time zone. Whether there is such a zone is not known to a schema. */
export const timeZoneSchema = <const Description extends string>(description: Description) =>
  ({
    type: 'string',
    description,
    default: 'Etc/UTC',
    pattern: '^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$',
    maxLength: 60,
    'x-kubernetes-validations': [{ rule: "self != 'Local'", message: 'must name a time zone' }],
  }) as const;

/** A structural OpenAPI v3 schema as the API server takes it: see apiextensions.k8s.io/v1. */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
}

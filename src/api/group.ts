/** The API group that all our kinds are in. */

export const group = 'clusterwright.dev';
export const version = 'v1alpha1';

/** What runs where a cluster names no image. */
import { releases, type ServerEngine } from './server.ts';

/** Of the server as it is released. */
export function releasedImage(version: string, engine: ServerEngine = 'Redis'): string {
  return `${releases[engine].repository}:${version}`;
}

/** The variant with a shell. From 1.83 on it can be told to ask nobody but its own server. */
export const exporterImage = 'docker.io/oliver006/redis_exporter:v1.86.0-alpine';

/** Of the proxy. Any later one reads the same configuration; 2.6 is the oldest that does. */
export const proxyImage = 'docker.io/library/haproxy:3.0';

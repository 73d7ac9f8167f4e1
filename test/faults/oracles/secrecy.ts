/** O11: no password shows in a log, an event, a status, a ConfigMap, or anywhere else outside of its Secret. */
import type { Oracle } from '../record.ts';

export const secrecy: Oracle = {
  id: 'O11',
  promise: 'no secret shows outside of its Secret',
  check({ secrets, log, commits, entries }) {
    const found: string[] = [];
    const seek = (text: string, where: string): void => {
      if (secrets.some((secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64')))) {
        found.push(`a secret shows in ${where}`);
      }
    };
    for (const line of log) seek(line, 'the log');
    for (const { request } of entries) if (request !== undefined) seek(request.path, 'a path');
    for (const { actor, resource, after } of commits) {
      if (actor === 'clusterwright' && after !== undefined && after.kind !== 'Secret') {
        seek(JSON.stringify(after), `${resource}/${after.metadata.name}`);
      }
    }
    return [...new Set(found)];
  },
};

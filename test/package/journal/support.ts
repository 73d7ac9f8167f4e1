/** The operator's half: where the agent finds a journal, and how the volume of a new one is filled. */
import type { Contents } from 'clusterwright/backup';
import { type BackupSupport, restoredVolume } from 'clusterwright/engine';
import type { JournalDestination, JournalSource } from './schemas.js';

export interface JournalSpec {
  readonly version: string;
}

const directory = '/data';
const port = 7070;

export const journalBackup: BackupSupport<JournalSpec> = {
  source({ metadata: { name, namespace } }) {
    const host = `${name}-0.${name}.${namespace}.svc`;
    const source: JournalSource = { engine: 'journal', members: [{ host, port }] };
    return { source, secrets: [], topology: 'one process' };
  },
  restoreTemplate({ metadata, spec }) {
    const destination: JournalDestination = { engine: 'journal', directory, version: spec.version };
    return {
      set: metadata.name,
      destination,
      fetchMounts: [{ name: restoredVolume, mountPath: directory }],
      volumes: [],
      containers: [],
      annotations: {},
    };
  },
  drill: ({ spec }) => ({ version: spec.version }),
  specVersion: (engineVersion) => engineVersion,
  async contents(_, { pods }, io): Promise<Contents> {
    const stream = await io.dial(pods[0]?.status?.podIP ?? '', port, io.signal);
    for await (const piece of stream) {
      stream.destroy();
      return { entries: String(piece).split(/[ \n]/)[3] ?? '' };
    }
    throw new Error('the journal says nothing');
  },
  isSame: (_, wanted, found) => wanted === found,
};

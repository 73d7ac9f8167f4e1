/// <reference types="node" preserve="true" />
/**
 * `clusterwright/driver`: what the backup agent's half of an engine is written with. `docs/engines/adding.md` says how.
 * The controller's half imports nothing of it.
 */
export type { FailureReason } from './backup/agent-result.ts';
export { type Amount, bytesLost, type Held, keysLost, type LossSince } from './backup/sudden-loss.ts';
export type { AgentContext } from './engine/driver/agent-context.ts';
export { ByteReader } from './engine/driver/byte-reader.ts';
export { coalesced } from './engine/driver/coalesce.ts';
export { openConnection, placeOf } from './engine/driver/connection.ts';
export {
  type Driver,
  type DriverIO,
  defineDriver,
  type Filled,
  isNoLaterMinor,
  type Origin,
} from './engine/driver/driver.ts';
export type { Dump } from './engine/driver/dump.ts';
export { renameDurably, syncFolder, writeDurably } from './engine/driver/durable.ts';
export { codeOf, Failure, wordsOf } from './engine/driver/failure.ts';
export { type Meter, meter } from './engine/driver/meter.ts';
export { type Ask, requestsOver } from './engine/driver/requests-over.ts';
export { optionalLine, secretLine, tlsFrom } from './engine/driver/secret-files.ts';
export { withTrailer } from './engine/driver/trailer.ts';
export { inTime, type Patience, piecesInTime } from './engine/driver/wait.ts';
export type { TlsMaterial } from './engine/engine-context.ts';
export { type Clock, sleep } from './system/clock.ts';
export type { Log } from './system/log.ts';

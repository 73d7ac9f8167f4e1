/**
 * In what servers differ from Redis 7.0, whose words the conversations have: engine and version, and what is said in place
 * of what. Each difference was heard on real servers.
 */
import { atLeast, type Server } from '../../../../src/engines/redis/kind/server.ts';
import type { Conversation } from './conversation.ts';

interface Difference {
  readonly story: string;
  readonly on: (server: Server) => boolean;
  /** In the JSON of what the story yields. */
  readonly instead: readonly (readonly [said: string, heard: string])[];
}

const isValkey = ({ engine }: Server): boolean => engine === 'Valkey';
const valkeySince =
  (version: string) =>
  (server: Server): boolean =>
    isValkey(server) && atLeast(server.version, version);
const redisSince =
  (version: string) =>
  (server: Server): boolean =>
    !isValkey(server) && atLeast(server.version, version);
/** What Redis 7.2 has brought is in every Valkey. */
const since72 = (server: Server): boolean => isValkey(server) || atLeast(server.version, '7.2');

const another = 'another user logs in with the password of which the server has the hash';
const alone = 'a primary alone: writes are not even counted';

const differences: readonly Difference[] = [
  // A command is counted as one byte while nobody copies.
  {
    story: alone,
    on: since72,
    instead: [
      ['"0","-1","0"]', '"1","-1","0"]'],
      ['["master",0,', '["master",1,'],
    ],
  },
  { story: alone, on: redisSince('7.4'), instead: [['avg_ttl=0', 'avg_ttl=0,subexpiry=0']] },
  { story: alone, on: valkeySince('9.0'), instead: [['avg_ttl=0', 'avg_ttl=0,keys_with_volatile_items=0']] },
  {
    story: 'a node that followed nobody and is made primary',
    on: since72,
    instead: [['["master","0","0","1"]', '["master","0","1","1"]']],
  },
  {
    story: another,
    on: (server) => since72(server) && !valkeySince('9.0')(server),
    instead: [['["on"]', '["on","sanitize-payload"]']],
  },
  { story: another, on: valkeySince('9.0'), instead: [['["on","sanitize-payload"]', '["on"]']] },
  {
    story: 'a replica copies, replaces what it had, and takes no writes',
    on: valkeySince('8.1'),
    instead: [['lag=0"', 'lag=0,type=replica"']],
  },
  {
    story: 'WAIT counts the replicas that have the write',
    on: isValkey,
    instead: [['note that since Redis 4.0 if', 'note that if']],
  },
  {
    story: 'a selector allows by itself, and two passwords are taken',
    on: valkeySince('9.0'),
    instead: [['"channels",""]]', '"channels","","databases","alldbs"]]']],
  },
  {
    story: 'a stranger is told nothing, whatever it asks',
    on: valkeySince('9.0'),
    instead: [
      ["-ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' ", '-NOAUTH Authentication required.'],
      ["-ERR wrong number of arguments for 'get' command", '-NOAUTH Authentication required.'],
    ],
  },
  // It takes the position that is in the file.
  {
    story: 'a restarted replica has its keys, and no position until it has copied',
    on: redisSince('8.0'),
    instead: [['["1","0"]', '["1","50"]']],
  },
  // What was received becomes the file before the first acknowledgement.
  {
    story: 'a replica is in sync before its file is: killed then, it finds what it had before the copy',
    on: valkeySince('9.1'),
    instead: [['[["1","1"],0]', '[["1","0"],2]']],
  },
];

/** What a conversation yields on this server. */
export function yieldsOn(server: Server, { story, yields }: Conversation): unknown {
  const found = differences.filter((difference) => difference.story === story && difference.on(server));
  if (found.length === 0) return yields;
  let text = JSON.stringify(yields);
  for (const [said, heard] of found.flatMap(({ instead }) => instead)) {
    if (!text.includes(said)) throw new Error(`${story}: nothing says ${said}`);
    text = text.replace(said, heard);
  }
  return JSON.parse(text) as unknown;
}

/** `engine` and `version`: what they can be, and which change the data on the volumes allows. From the table in `server.ts`. */
import { type CelRule, celName } from '../../../api/schema.ts';
import { type Directive, type Range, redisDirectives } from './directives.ts';
import { firstOfItsOwn, releases, type ServerEngine, serverEngines } from './server.ts';

/** A rule and no pattern, since a rule has words. Other rules on the version have nothing to add where it is broken. */
const isVersion = (self: string): string => `${self}.matches('^[789][.](0|[1-9][0-9]?)$')`;

/** `7.2` as a number that orders versions: 702. */
const versionNumber = (self: string): string => `(int(${self}.split('.')[0]) * 100 + int(${self}.split('.')[1]))`;
const numberOf = (version: string): number => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 100 + minor;
};

const inWords = serverEngines.map((engine) => `${releases[engine].supported} of ${engine}`).join(', ');

/** On `spec.version`. */
export const versionRules: readonly CelRule[] = [
  {
    rule: isVersion('self'),
    message: `version must be major.minor, such as 8.0, without a patch or a v; supported are ${inWords}`,
  },
  {
    rule: `!${isVersion('self')} || (${versionNumber('self')} >= ${versionNumber('oldSelf')} && int(self.split('.')[0]) - int(oldSelf.split('.')[0]) <= 1)`,
    message: 'version can only rise, by one major at a time',
  },
];

const onlyWith = (engine: ServerEngine, rule: string): string => `self.engine != '${engine}' || ${rule}`;

const supportedRules: readonly CelRule[] = serverEngines.map((engine) => ({
  rule: onlyWith(engine, `!${isVersion('self.version')} || self.version.matches('^${releases[engine].versions}$')`),
  message: `supported versions with engine ${engine} are ${releases[engine].supported}`,
  fieldPath: '.version',
}));

const ownFormat = firstOfItsOwn('Redis');
const lastCommon = releases.Valkey.formats[0]?.[0] ?? '';
const wayToValkey = `Valkey cannot read files of Redis ${ownFormat} or later: create another cluster and copy the keys by commands, as the guide of Redis shows`;
const wayToRedis = `engine cannot change from Valkey to Redis: restore a backup of Valkey before ${lastCommon} into another cluster, of Redis 7.2 or later`;

const changesTo = (engine: ServerEngine, self: string, oldSelf: string): string =>
  `${self}.engine != '${engine}' || ${oldSelf}.engine == '${engine}'`;

/** On `spec`. */
export const engineRules: readonly CelRule[] = [
  ...supportedRules,
  { rule: changesTo('Redis', 'self', 'oldSelf'), message: wayToRedis, fieldPath: '.engine' },
  {
    rule: `${changesTo('Valkey', 'self', 'oldSelf')} || ${versionNumber('oldSelf.version')} < ${numberOf(ownFormat)}`,
    message: wayToValkey,
    fieldPath: '.engine',
  },
];

const runs = 'oldSelf.status.version';
const isRunningVersion = `${runs}.matches('^[0-9]{1,4}[.][0-9]{1,4}([.]|$)')`;

/** On the whole object: an image of its own may run a later version than the spec says. */
export const runningRules: readonly CelRule[] = [
  {
    rule: `${changesTo('Valkey', 'self.spec', 'oldSelf.spec')} || !has(oldSelf.status) || !has(${runs}) || !${isRunningVersion} || ${versionNumber(runs)} < ${numberOf(ownFormat)}`,
    message: `engine: ${wayToValkey}`,
    fieldPath: '.spec.engine',
  },
];

/** A server does not start with a directive that it does not know, and refuses it while it runs. */
export const directiveRules: readonly CelRule[] = Object.entries(redisDirectives).flatMap(([name, directive]) => [
  ...modeRules(name, directive),
  ...serverEngines.flatMap((engine) => {
    const range = (directive as Directive).in?.[engine];
    return range === undefined ? [] : rulesOf(name, engine, range);
  }),
]);

function modeRules(name: string, { mode }: Directive): readonly CelRule[] {
  if (mode === undefined) return [];
  const rule = `self.mode == '${mode}' || !has(self.config.${celName(name)})`;
  return [{ rule, message: `config.${name} needs mode ${mode}` }];
}

function rulesOf(name: string, engine: ServerEngine, range: Range): readonly CelRule[] {
  const isAbsent = `!has(self.config.${celName(name)})`;
  if (range === 'none') {
    return [{ rule: onlyWith(engine, isAbsent), message: `config.${name} is not known to ${engine}` }];
  }
  const { since, before } = range;
  const version = versionNumber('self.version');
  const unless = (bound: string): string =>
    onlyWith(engine, `${isAbsent} || !${isVersion('self.version')} || ${bound}`);
  return [
    ...(since === undefined
      ? []
      : [
          {
            rule: unless(`${version} >= ${numberOf(since)}`),
            message: `config.${name} needs version ${since} or later`,
          },
        ]),
    ...(before === undefined
      ? []
      : [
          {
            rule: unless(`${version} < ${numberOf(before)}`),
            message: `config.${name} is not known to ${engine} ${before} or later`,
          },
        ]),
  ];
}

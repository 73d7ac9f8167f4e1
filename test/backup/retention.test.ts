/** What may go, and what must stay. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backupId } from '../../src/backup/id.ts';
import type { Purpose } from '../../src/backup/identity.ts';
import { type Candidate, planRetention, type RetentionQuestion } from '../../src/backup/retention.ts';

const hour = 3600 * 1000;
const day = 24 * hour;
const now = Date.UTC(2026, 10, 21, 12);
const nightly: Purpose = { type: 'schedule', name: 'nightly' };

/** Made so many days ago. */
const idOf = (days: number): string => backupId(now - days * day, Buffer.from([0, 0, 0, 0]));

function made(days: number, purpose: Purpose = nightly, clusterUid = 'uid-1'): Candidate {
  return { id: idOf(days), manifest: { clusterUid, purpose }, modifiedAt: now - days * day };
}

const base = (days: number, clusterUid = 'uid-1'): Candidate => made(days, { type: 'archive', name: 'db' }, clusterUid);

function plan(question: Partial<RetentionQuestion>) {
  return planRetention({
    candidates: [],
    clusterUid: 'uid-1',
    schedule: 'nightly',
    retention: { count: 2 },
    justMade: idOf(0),
    now,
    ...question,
  });
}

const ids = (...days: readonly number[]): readonly string[] => days.map(idOf);

describe('retention', () => {
  it.each<[string, readonly Candidate[], RetentionQuestion['retention'], readonly string[]]>([
    ['keeps as many as it is told', [made(0), made(1), made(2), made(3)], { count: 2 }, ids(3, 2)],
    ['keeps as long as it is told', [made(0), made(1), made(2), made(3)], { ageSeconds: 1.5 * 86_400 }, ids(3, 2)],
    [
      'lets go what either would',
      [made(0), made(1), made(2), made(9)],
      { count: 3, ageSeconds: 86_400 * 1.5 },
      ids(9, 2),
    ],
    ['keeps everything where it is told nothing', [made(0), made(99)], undefined, []],
    ['keeps everything where both are left out', [made(0), made(99)], {}, []],
    ['never lets the newest go', [made(0)], { count: 1, ageSeconds: 60 }, []],
    [
      'looks at no other schedule',
      [made(0), made(1, { type: 'schedule', name: 'weekly' }), made(2)],
      { count: 1 },
      ids(2),
    ],
    [
      'looks at nothing on demand',
      [made(0), made(1, { type: 'backup', name: 'nightly' }), made(2)],
      { count: 1 },
      ids(2),
    ],
    ['looks at no last one of a cluster', [made(0), made(1, { type: 'deletion', name: 'nightly' })], { count: 1 }, []],
    ['looks at no other cluster', [made(0), made(1, nightly, 'uid-2'), made(2)], { count: 1 }, ids(2)],
    [
      'lets a base of the archive go with a later backup of its own',
      [made(0), made(1), made(2), made(3), base(4), base(5), base(2.5), made(6, nightly, 'uid-2')],
      { count: 3 },
      ids(5, 4, 3),
    ],
    [
      'keeps a base of the archive as long as every later backup stays',
      [made(0), made(1), base(2), base(90)],
      { count: 2, ageSeconds: 86_400 * 30 },
      [],
    ],
    [
      'keeps a base of the archive behind a backup that others keep: it may be the only one that leads over a gap',
      [made(0), made(1), made(2), base(4), base(30), made(10, { type: 'schedule', name: 'weekly' }), base(11)],
      { count: 2 },
      ids(30, 11, 2),
    ],
    ['looks at no base of another cluster', [made(0), made(1), base(2, 'uid-2')], { count: 1 }, ids(1)],
    ['counts no base of the archive as one of its own', [base(0.5), made(0), made(1)], { count: 2 }, []],
    [
      'counts nothing that cannot be trusted, and leaves it alone',
      [made(0), { id: idOf(1), manifest: 'unusable', modifiedAt: 0 }, made(2), made(3)],
      { count: 2 },
      ids(3),
    ],
  ])('%s', (_, candidates, retention, expired) => {
    expect(plan({ candidates, retention }).expired).toEqual(expired);
  });

  it('keeps what was just made although a clock once ran ahead', () => {
    // Made by a clock that was ten days ahead: newer than everything, by its name.
    const candidates = [made(-10), made(-9), made(0), made(1)];
    expect(plan({ candidates, retention: { count: 1 } }).expired).toEqual(ids(1, -9));
    expect(plan({ candidates, retention: { ageSeconds: 3600 } }).expired).toEqual(ids(1));
  });

  const doubtful = (days: number): Candidate => ({
    ...made(days),
    manifest: { clusterUid: 'uid-1', purpose: nightly, isDoubtful: true },
  });

  it('keeps the bases of the archive where only backups go that hold suddenly little', () => {
    const candidates = [made(0), doubtful(1), doubtful(2), base(3)];
    expect(plan({ candidates, retention: { count: 1 } }).expired).toEqual(ids(2));
  });

  it('stands still while the one just made holds suddenly little', () => {
    const candidates = [doubtful(0), doubtful(1), made(2), made(3), made(4)];
    expect(plan({ candidates, retention: { count: 1 } }).expired).toEqual([]);
    expect(plan({ candidates, retention: { ageSeconds: 3600 } }).expired).toEqual([]);
  });

  it('counts those that hold suddenly little apart', () => {
    const candidates = [made(0), doubtful(1), doubtful(2), doubtful(3), made(4), made(5), made(6)];
    expect(plan({ candidates, retention: { count: 2 } }).expired).toEqual(ids(6, 5, 3));
  });

  it('goes by the order that manifests tell', () => {
    const numbered = (days: number, sequence: number): Candidate => ({
      ...made(days),
      manifest: { clusterUid: 'uid-1', purpose: nightly, sequence },
    });
    const candidates = [numbered(0, 9), numbered(-400, 7), numbered(400, 8), made(1), made(2)];
    expect(plan({ candidates, retention: { count: 2 } }).expired).toEqual(ids(2, 1, -400));
  });

  it('tells the age by what the target says where an id is from the future, and by the later of both', () => {
    const ahead = { ...made(-400), modifiedAt: now - 5 * day };
    const behind = { ...made(400), modifiedAt: now - day };
    expect(
      plan({ candidates: [made(0), ahead, behind], justMade: idOf(0), retention: { ageSeconds: 2 * 86_400 } }).expired,
    ).toEqual([]);
    const newer = { ...made(-500), modifiedAt: now };
    expect(
      plan({ candidates: [made(0), newer, ahead, behind], retention: { ageSeconds: 2 * 86_400 } }).expired,
    ).toEqual(ids(-400));
  });

  it('leaves the newest and the one just made, even where it is told to keep none', () => {
    expect(plan({ candidates: [made(-1), made(0), made(1)], retention: { count: 0 } }).expired).toEqual(ids(1));
  });

  it('goes by no age while its clock and the target’s are apart', () => {
    const candidates = [made(0), made(1), made(2)].map((each) => ({ ...each, modifiedAt: each.modifiedAt - 2 * day }));
    const half: Candidate = { id: idOf(5), manifest: 'none', modifiedAt: now - 7 * day };
    const found = plan({ candidates: [...candidates, half], retention: { ageSeconds: 3600 } });
    expect(found).toMatchObject({ expired: [], abandoned: [], doubt: expect.stringMatching(/2880 minutes apart/) });
    expect(plan({ candidates, retention: { count: 1 } }).expired).toEqual(ids(2, 1));
  });

  it('sweeps what was never finished, a day after its last sign of life', () => {
    const half = (days: number, signOfLife: number): Candidate => ({
      id: idOf(days),
      manifest: 'none',
      modifiedAt: now - signOfLife * day,
    });
    const candidates = [made(0), half(3, 2), half(4, 0.5), half(0.5, 0.5)];
    expect(plan({ candidates }).abandoned).toEqual(ids(3));
  });

  it('sweeps after a day, and not at it', () => {
    const half = (ms: number): Candidate => ({ id: idOf(3), manifest: 'none', modifiedAt: now - ms });
    expect(plan({ candidates: [made(0), half(day)] }).abandoned).toEqual([]);
    expect(plan({ candidates: [made(0), half(day + 1)] }).abandoned).toEqual(ids(3));
  });

  it('sweeps nothing that has become a backup, however old it is and whoever made it', () => {
    const unreadable: Candidate = { id: idOf(9), manifest: 'unusable', modifiedAt: now - 9 * day };
    expect(plan({ candidates: [made(0), made(5), unreadable], retention: undefined })).toEqual({
      expired: [],
      abandoned: [],
    });
  });

  it('lets go after the age, and not at it', () => {
    const candidates = [made(0), made(1)];
    expect(plan({ candidates, retention: { ageSeconds: 86_400 } }).expired).toEqual([]);
    expect(plan({ candidates, now: now + 1, retention: { ageSeconds: 86_400 } }).expired).toEqual(ids(1));
  });

  it('keeps one that a person has confirmed, though it holds suddenly little: those after it are compared with it', () => {
    const candidates = [made(0), doubtful(1), doubtful(2), doubtful(3)];
    expect(plan({ candidates, retention: { count: 1 } }).expired).toEqual(ids(3, 2));
    expect(plan({ candidates, retention: { count: 1 }, confirmed: idOf(3) }).expired).toEqual(ids(2));
    expect(plan({ candidates, retention: { ageSeconds: 60 }, confirmed: idOf(2) }).expired).toEqual(ids(3, 1));
  });

  it('believes an id up to an hour ahead, and beyond that the target', () => {
    const second = 1000;
    const ahead = (ms: number): Candidate => ({ ...made(-ms / day), modifiedAt: now - 5 * day });
    const gone = (ms: number): boolean =>
      plan({ candidates: [made(-2), made(0), ahead(ms)], retention: { ageSeconds: 86_400 } }).expired.length > 0;
    expect([hour, hour + second].map(gone)).toEqual([false, true]);
  });

  it('goes by age while the clocks are an hour apart, and not beyond', () => {
    const arrived = (ms: number) =>
      plan({ candidates: [{ ...made(0), modifiedAt: now - ms }, made(9)], retention: { ageSeconds: 86_400 } });
    expect(arrived(hour)).toEqual({ expired: ids(9), abandoned: [] });
    expect(arrived(hour + 1)).toMatchObject({ expired: [], doubt: expect.stringMatching(/60 minutes apart/) });
    expect(arrived(-hour)).toEqual({ expired: ids(9), abandoned: [] });
    expect(arrived(-hour - 1)).toMatchObject({ expired: [] });
  });

  it('lets nothing go where the list lacks the one that was just made', () => {
    expect(plan({ candidates: [made(1), made(2), made(3)], retention: { count: 1 } })).toMatchObject({
      expired: [],
      doubt: expect.stringMatching(/not in the list/),
    });
  });

  it('lets nothing go that is not surely its own, whatever there is', () => {
    const purpose = fc.constantFrom<Purpose>(
      nightly,
      { type: 'schedule', name: 'weekly' },
      { type: 'backup', name: 'nightly' },
      { type: 'deletion', name: 'cache' },
    );
    const manifest = fc.oneof(
      fc.record({ purpose, clusterUid: fc.constantFrom('uid-1', 'uid-2') }),
      fc.constantFrom('unusable' as const, 'none' as const),
    );
    const candidate = fc.record({
      age: fc.integer({ min: -50, max: 500 }),
      manifest,
      modified: fc.integer({ min: 0, max: 500 }),
    });
    const retention = fc.record(
      { count: fc.integer({ min: 1, max: 5 }), ageSeconds: fc.integer({ min: 60, max: 40 * 86_400 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.uniqueArray(candidate, { selector: ({ age }) => age }), retention, (found, wanted) => {
        const others = found
          .filter(({ age }) => age !== 0)
          .map(
            ({ age, modified, ...each }): Candidate => ({
              id: idOf(age / 10),
              modifiedAt: now - (modified * day) / 10,
              ...each,
            }),
          );
        const candidates = [made(0), ...others];
        const { expired, abandoned } = plan({ candidates, retention: wanted });
        const own = candidates.filter(
          ({ manifest: each }) =>
            typeof each === 'object' &&
            each.clusterUid === 'uid-1' &&
            each.purpose.type === 'schedule' &&
            each.purpose.name === 'nightly',
        );
        const newest = own
          .map(({ id }) => id)
          .sort()
          .at(-1);
        expect(own.map(({ id }) => id)).toEqual(expect.arrayContaining([...expired]));
        expect(expired).not.toContain(newest);
        expect([...expired, ...abandoned]).not.toContain(idOf(0));
        const left = own.filter(({ id }) => !expired.includes(id)).length;
        if (wanted.count !== undefined) expect(left).toBeLessThanOrEqual(Math.max(wanted.count, 1) + 1);
        if (wanted.count !== undefined && wanted.ageSeconds === undefined) {
          expect(left).toBeGreaterThanOrEqual(Math.min(own.length, wanted.count));
        }
      }),
    );
  });
});

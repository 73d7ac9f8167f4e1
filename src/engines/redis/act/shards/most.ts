/** Whether at least so many checks hold, as soon as that is certain: whoever does not answer holds up nobody. A check that fails does not hold. */
export async function most(checks: readonly Promise<boolean>[], atLeast: number): Promise<boolean> {
  if (atLeast <= 0) return true;
  let holding = 0;
  return new Promise((resolve) => {
    const ended = checks.map(async (check) => {
      if (await check.catch(() => false)) holding++;
      if (holding >= atLeast) resolve(true);
    });
    void Promise.all(ended).then(() => resolve(holding >= atLeast));
  });
}

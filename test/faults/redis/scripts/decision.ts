/** What a script of a pod has done, in a form in which the script and its translation can be compared. */
export interface Decision {
  readonly code: number;
  /**
   * What was asked, in no order, since sentinels are asked at once. Of a hand-over, which asks for offsets again and again
   * until some time has passed, each of these questions once.
   */
  readonly asked: readonly string[];
  /** What changes something, in order. */
  readonly told: readonly string[];
  readonly conf: readonly string[];
  readonly mark: string | undefined;
  readonly term: string | undefined;
  readonly users: string | undefined;
  readonly restoring: string | undefined;
}

const isChange = (line: string): boolean => /pause|failover|replicaof|config set|acl setuser/.test(line);

export function decision(end: Omit<Decision, 'told' | 'code'> & { readonly code: number | null }): Decision {
  const { code, asked, conf, mark, term, users, restoring } = end;
  const isPolling = asked.some((line) => line.includes('pause'));
  const questions = isPolling
    ? asked.filter((line, i) => / role$/.test(line) || asked.indexOf(line) === i)
    : [...asked];
  const told = asked.filter(isChange);
  return { code: code ?? -1, asked: questions.sort(), told, conf, mark, term, users, restoring };
}

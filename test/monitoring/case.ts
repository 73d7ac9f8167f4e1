/** A story that an alert is about, and one that looks like it. */

/** Name with labels, to the values of each minute as promtool writes them: `0x30` thirty-one zeros, `0+5x30` five more each minute. */
export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  /** What sets this case apart from another of the same alert. */
  readonly story?: string;
  /** The alert fires at the end of these series, with these labels. */
  readonly fires: Series;
  readonly labels: Readonly<Record<string, string>>;
  /** It does not fire, nor is it about to, at the end of these. */
  readonly quiet: Series;
}

/** Length of every series, in minutes. */
export const minutes = 60;
/** The same value in every minute. */
export const always = (value: number | string): string => `${value}x${minutes}`;
/** Rises by this much each minute. */
export const rising = (perMinute: number, from = 0): string => `${from}+${perMinute}x${minutes}`;

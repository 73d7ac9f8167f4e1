/** Reads Prometheus' text format, as far as our own metrics use it. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match === null) return [];
    const [, name = '', labels = '', value = ''] = match;
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** Requests to the API server so far, by `VERB RESOURCE`. */
export function requestsOf(text: string): Record<string, number> {
  const requests: Record<string, number> = {};
  for (const { name, labels, value } of samplesOf(text)) {
    if (name !== 'clusterwright_api_requests_total') continue;
    const key = `${labels.verb} ${labels.resource}`;
    requests[key] = (requests[key] ?? 0) + value;
  }
  return requests;
}

/** A Kubernetes object as a Helm template has it: plain values, and what is known only when the chart is rendered. */

export type Scalar = string | number | boolean | null;

export type Template =
  | { readonly type: 'scalar'; readonly value: Scalar }
  /** A scalar: text of YAML that holds an action, such as `{{ int $.Values.replicas }}`. */
  | { readonly type: 'action'; readonly text: string }
  /** A value of the chart as it is. An empty one leaves its field out. `form`: a function of templates. */
  | { readonly type: 'value'; readonly value: string; readonly form: 'toYaml' | 'quote' }
  | { readonly type: 'list'; readonly items: readonly Item[] }
  /** `others`: the value with further entries, which never replace one that is written out. */
  | { readonly type: 'map'; readonly entries: readonly Entry[]; readonly others?: string };

export type Guard =
  | { readonly type: 'if'; readonly condition: string; readonly holds: boolean }
  | { readonly type: 'range'; readonly variable: string; readonly over: string };

/** The outermost guard is first. */
export interface Item {
  readonly guards: readonly Guard[];
  readonly template: Template;
}

export interface Entry extends Item {
  readonly key: string;
}

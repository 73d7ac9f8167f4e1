/** How far a pod is that may get the CPU and memory of its StatefulSet's template without a restart. */

export interface Requirements {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
}

/** Native sidecars are init containers. */
export type ContainerList = 'containers' | 'initContainers';

export interface ResizedContainer {
  readonly list: ContainerList;
  /** In that list of the pod. */
  readonly index: number;
  readonly name: string;
  /** All of them, with what others have added to the pod. */
  readonly resources: Requirements;
}

export type Resize =
  | {
      readonly state: 'due';
      /** To be written on the pod first; absent where it is there. See `resizeAnnotation`. */
      readonly mark?: string;
      /** Empty where the pod has the resources, and only the mark is missing. */
      readonly containers: readonly ResizedContainer[];
      readonly changes: readonly { readonly path: string; readonly from?: unknown; readonly to?: unknown }[];
    }
  /** The API server has taken it, and the kubelet has yet to do it. */
  | { readonly state: 'underway'; readonly words: string; readonly recheckMs: number }
  /** The kubelet has done it. `revision`: of the template that the pod is of now. */
  | { readonly state: 'done'; readonly revision: string }
  /** The former template could not be read this time. */
  | { readonly state: 'unknown'; readonly words: string }
  /** The pod has to restart after all. */
  | { readonly state: 'refused'; readonly words: string };

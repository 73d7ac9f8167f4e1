/**
 * The Kubernetes types of cdk8s-plus-28 as the plain JSON that crosses the wire.
 *
 * Types only: the library's classes for quantities, int-or-strings and dates become what JSON has, so a builder returns
 * plain objects and the controller's bundle holds no cdk8s.
 */
import type { k8s } from 'cdk8s-plus-28';

export type Plain<T> = T extends k8s.Quantity
  ? string
  : T extends k8s.IntOrString
    ? string | number
    : T extends Date
      ? string
      : T extends readonly (infer Item)[]
        ? readonly Plain<Item>[]
        : T extends object
          ? { readonly [Key in keyof T]: Plain<T[Key]> }
          : T;

export type ContainerSpec = Plain<k8s.Container>;
export type PodSpec = Plain<k8s.PodSpec>;
export type StatefulSetSpec = Plain<k8s.StatefulSetSpec>;
export type ServicePort = Plain<k8s.ServicePort>;
export type Volume = Plain<k8s.Volume>;
export type Probe = Plain<k8s.Probe>;
export type ResourceRequirements = Plain<k8s.ResourceRequirements>;

/**
 * The Kubernetes types of cdk8s-plus-28 as the plain JSON that crosses the wire.
 *
 * Types only: the library's classes for quantities, int-or-strings and dates become what JSON has, so a builder returns
 * plain objects and the controller's bundle holds no cdk8s.
 */
import type { k8s } from 'cdk8s-plus-28';

/** Quantities and int-or-strings have the same type, an object with nothing but a `value`: only the field tells which. */
type Boxed = k8s.Quantity | k8s.IntOrString;

/** Fields that Kubernetes types as int-or-string. */
type IntOrStringField = 'port' | 'targetPort' | 'maxSurge' | 'maxUnavailable' | 'minAvailable';

/** What has more than a `value` (a header, a sysctl) is an object like others. */
type Unboxed<T extends Boxed, As> = Exclude<keyof T, 'value'> extends never ? As : PlainFields<T>;

type PlainFields<T> = { readonly [Key in keyof T]: PlainField<Key, T[Key]> };

type PlainField<Key, T> = T extends Boxed
  ? Unboxed<T, Key extends IntOrStringField ? string | number : string>
  : Plain<T>;

export type Plain<T> = T extends Boxed
  ? Unboxed<T, string>
  : T extends Date
    ? string
    : T extends readonly (infer Item)[]
      ? readonly Plain<Item>[]
      : T extends object
        ? PlainFields<T>
        : T;

export type ContainerSpec = Plain<k8s.Container>;
export type PodSpec = Plain<k8s.PodSpec>;
export type StatefulSetSpec = Plain<k8s.StatefulSetSpec>;
export type ServicePort = Plain<k8s.ServicePort>;
export type Volume = Plain<k8s.Volume>;
export type Probe = Plain<k8s.Probe>;
export type ResourceRequirements = Plain<k8s.ResourceRequirements>;

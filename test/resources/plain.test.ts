/** What builders may write, as the type checker sees it: `npx tsc` judges these, and running them proves nothing more. */
import { expectTypeOf, test } from 'vitest';
import type { ContainerSpec, PodSpec, Probe, ServicePort, Volume } from '../../src/resources/plain.ts';

test('a port has a name or a number, where Kubernetes takes both', () => {
  expectTypeOf({ tcpSocket: { port: 8080 } }).toExtend<Probe>();
  expectTypeOf({ httpGet: { port: 'http' } }).toExtend<Probe>();
  expectTypeOf({ port: 8080, targetPort: 8080 }).toExtend<ServicePort>();
  expectTypeOf({ port: 'http' }).not.toExtend<ServicePort>();
});

test('a quantity is text, as the API server answers with it', () => {
  expectTypeOf({ name: 'tmp', emptyDir: { sizeLimit: '1Gi' } }).toExtend<Volume>();
  expectTypeOf({ name: 'tmp', emptyDir: { sizeLimit: 1024 } }).not.toExtend<Volume>();
  expectTypeOf({ name: 'a', resources: { limits: { memory: '1Gi' } } }).toExtend<ContainerSpec>();
  expectTypeOf({ name: 'a', resources: { limits: { memory: 1024 } } }).not.toExtend<ContainerSpec>();
});

test('an object with more than a value stays one', () => {
  const header = { name: 'Host', value: 'a' };
  expectTypeOf({ httpGet: { port: 8080, httpHeaders: [header] } }).toExtend<Probe>();
  expectTypeOf({ containers: [], securityContext: { sysctls: [header] } }).toExtend<PodSpec>();
});

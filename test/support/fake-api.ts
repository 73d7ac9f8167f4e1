/** The API server in memory as tests use it: a status that contradicts itself fails the test. */
import type { KubeObject } from '../../src/api/object.ts';
import { ApiInMemory } from './api-in-memory.ts';
import { tell } from './told-statuses.ts';

export class FakeApi extends ApiInMemory {
  /** Not where what a status says is beside the point. */
  readsStatuses = true;

  protected override told(object: KubeObject): void {
    if (this.readsStatuses) tell(object);
  }
}

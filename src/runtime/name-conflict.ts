/** There is an object of the name we need, and it is not ours: the message names it, and its owner. */
export class NameConflict extends Error {
  readonly code = 'NameConflict';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NameConflict';
  }
}

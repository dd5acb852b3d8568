/** Not there, or not the viewer's: the two must look the same, so there is one message for both. */
export class NotFound extends Error {
  override readonly name = 'NotFound';
  readonly code = 'NOT_FOUND';

  constructor() {
    super('No such record, or none that you may see.');
  }
}

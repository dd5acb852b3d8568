/** A text for each, with space in between. */
export const times = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** So many tokens that are cheap to validate. No such note is asked for. */
export function ofTokens(count: number, name = 'Q', field = 'updateProgressNote'): string {
  const before = `mutation ${name} { ${field} ( input : { progressNoteId : "x" patch : [`;
  const after = '] } ) { __typename } }';
  const spent = `${before} ${after}`.match(/"x"|\w+|\S/g)!.length;
  return `${before} ${times(count - spent, () => '1')} ${after}`;
}

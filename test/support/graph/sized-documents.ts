/** A text for each index, separated by spaces. */
export const times = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** A document of this many tokens that is cheap to validate. It requests no note. */
export function ofTokens(count: number, name = 'Q', field = 'updateProgressNote'): string {
  const before = `mutation ${name} { ${field} ( input : { progressNoteId : "x" patch : [`;
  const after = '] } ) { __typename } }';
  const spent = `${before} ${after}`.match(/"x"|\w+|\S/g)!.length;
  return `${before} ${times(count - spent, () => '1')} ${after}`;
}

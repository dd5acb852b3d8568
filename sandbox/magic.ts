/** What a magic edit makes of a note: something that visibly follows from the instructions. */
export function edited(content: readonly unknown[], userInstructions: string): readonly unknown[] {
  const kept = content.filter((element) => titleOf(element) !== REVISION);
  const changed = /\b(short|brief|concise|trim)/i.test(userInstructions)
    ? kept.map(shortened)
    : kept;
  return [...changed, { title: REVISION, text: `Edited as instructed: ${userInstructions}` }];
}

const REVISION = 'Revision';

/** To the first sentence. */
function shortened(element: unknown): unknown {
  if (!isSection(element)) return element;
  const end = element.text.indexOf('. ');
  return { ...element, text: end < 0 ? element.text : element.text.slice(0, end + 1) };
}

const titleOf = (element: unknown) => (isSection(element) ? element.title : undefined);

function isSection(element: unknown): element is { title: string; text: string } {
  return (
    typeof element === 'object' &&
    element !== null &&
    'title' in element &&
    'text' in element &&
    typeof element.text === 'string'
  );
}

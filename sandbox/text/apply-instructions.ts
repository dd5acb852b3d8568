interface Section {
  readonly title: string;
  readonly text: string;
}

/** Words that name a section without its title. */
const TOPICS: readonly (readonly [words: RegExp, title: RegExp])[] = [
  [/homework|follow-up|appointment|next (session|visit)|refer/i, /plan/i],
  [/medication|dose|side effect/i, /medication/i],
  [/mood|affect|speech/i, /objective|mental status/i],
  [/diagnos|progress/i, /assessment/i],
];

const SHORTEN = /\b(short(er|en)?|brief(er)?|concise|trim|condense)\b/i;
const LIST = /\b(list|bullets?|numbered)\b/i;
const REPLACE = /\b(?:replace|change)\s+["“'](.+?)["”']\s+(?:with|by|to|into)\s+["“'](.+?)["”']/i;
const REMOVE = /\b(?:remove|delete|omit|drop|leave out)\s+(?:the\s+)?(.+?)(?:\s+from\b.*)?[.!]*$/is;

/**
 * What a magic edit makes of a note: it changes the sections that the instructions name by title or by topic. A change
 * of style that names no section changes all of them, a new statement goes into the last one.
 */
export function applyInstructions(content: readonly unknown[], instructions: string) {
  const sections = content.filter(isSection);
  const named = sections.filter(({ title }) => isNamed(title, instructions));
  const replacement = REPLACE.exec(instructions);
  const removed = REMOVE.exec(instructions)?.[1];
  if (replacement) {
    const [, from = '', to = ''] = replacement;
    return changed(content, named, (text) => text.replaceAll(from, to));
  }
  if (LIST.test(instructions)) return changed(content, named, numbered);
  if (SHORTEN.test(instructions)) return changed(content, named, (text) => sentencesOf(text)[0]);
  if (removed) return changed(content, named, (text) => withoutSentence(text, removed));
  const last = sections.slice(-1);
  if (last.length === 0)
    return [...content, { title: 'Addendum', text: statementIn(instructions) }];
  const targets = named.length > 0 ? named : last;
  return changed(content, targets, (text) => `${text} ${statementIn(instructions)}`);
}

function changed(
  content: readonly unknown[],
  targets: readonly Section[],
  change: (text: string) => string | undefined,
): readonly unknown[] {
  return content.map((element) => {
    if (!isSection(element)) return element;
    if (targets.length > 0 && !targets.includes(element)) return element;
    return { ...element, text: change(element.text) ?? element.text };
  });
}

function isNamed(title: string, instructions: string): boolean {
  const wanted = instructions.toLowerCase();
  if (wanted.includes(title.toLowerCase())) return true;
  return TOPICS.some(([words, titles]) => words.test(instructions) && titles.test(title));
}

const sentencesOf = (text: string) => text.split(/(?<=[.!?]["”]?)\s+/);

const numbered = (text: string) =>
  sentencesOf(text)
    .map((sentence, index) => `${index + 1}. ${sentence}`)
    .join('\n');

/** Keeps at least one sentence: a section does not become empty. */
function withoutSentence(text: string, phrase: string): string {
  const kept = sentencesOf(text).filter(
    (sentence) => !sentence.toLowerCase().includes(phrase.toLowerCase()),
  );
  return kept.length === 0 ? text : kept.join(' ');
}

/** "Add to the plan that the client will call" → "The client will call." */
function statementIn(instructions: string): string {
  const statement = instructions
    .replace(/^(please\s+)?(add|mention|include|note|state|say|document|write)\b/i, '')
    .replace(/\s+(to|in|under)\s+the\s+[\w ]+?(?=$|[:.,]|\s+that\b)/i, '')
    .replace(/^[\s:,]*(that\b)?\s*/i, '')
    .trim();
  const text = statement === '' ? instructions : statement;
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function isSection(element: unknown): element is Section {
  return (
    typeof element === 'object' &&
    element !== null &&
    'title' in element &&
    typeof element.title === 'string' &&
    'text' in element &&
    typeof element.text === 'string'
  );
}

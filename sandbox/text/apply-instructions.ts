import type { NoteSection } from './note-text.ts';

/** Words that refer to the plan without its title. */
const PLAN_TOPICS = /homework|follow-up|appointment|next (session|visit)|refer/i;

const ADDS = /^(please\s+)?(add|mention|include|note|state|say|document|write)\b/i;

/** What each kind of instruction does to the text of a section. The first one that matches is applied. */
const CHANGES: readonly (readonly [
  pattern: RegExp,
  change: (text: string, match: RegExpExecArray) => string,
])[] = [
  [
    /\b(?:replace|change)\s+["“'](.+?)["”']\s+(?:with|by|to|into)\s+["“'](.+?)["”']/i,
    (text, [, from = '', to = '']) => text.replaceAll(from, () => to),
  ],
  [/\b(list|bullets?|numbered)\b/i, numbered],
  [/\b(short(er|en)?|brief(er)?|concise|trim)\b/i, (text) => sentencesOf(text)[0] ?? text],
  [
    /\b(?:remove|delete|omit|leave out)\s+(?:the\s+)?(.+?)(?:\s+from\b.*)?[.!]*$/is,
    (text, [, phrase = '']) => {
      const isOther = (sentence: string) => !sentence.toLowerCase().includes(phrase.toLowerCase());
      // A section does not become empty.
      return sentencesOf(text).filter(isOther).join(' ') || text;
    },
  ],
];

/**
 * Applies a magic edit to a note. It changes the sections that the instructions name. A change of style that names no
 * section changes all sections; anything else is added to the last section.
 */
export function applyInstructions(content: readonly unknown[], instructions: string) {
  const sections = content.filter(isSection);
  const named = sections.filter(({ title }) => isNamed(title, instructions));
  for (const [pattern, change] of CHANGES) {
    const match = ADDS.test(instructions) ? null : pattern.exec(instructions);
    if (match)
      return changed(content, named.length > 0 ? named : sections, (t) => change(t, match));
  }
  const statement = statementIn(instructions);
  if (sections.length === 0) return [...content, { title: 'Addendum', text: statement }];
  const targets = named.length > 0 ? named : sections.slice(-1);
  return changed(content, targets, (text) => `${text} ${statement}`);
}

const changed = (
  content: readonly unknown[],
  targets: readonly unknown[],
  change: (text: string) => string,
): readonly unknown[] =>
  content.map((element) =>
    isSection(element) && targets.includes(element)
      ? { ...element, text: change(element.text) }
      : element,
  );

const isNamed = (title: string, instructions: string) =>
  instructions.toLowerCase().includes(title.toLowerCase()) ||
  (title === 'Plan' && PLAN_TOPICS.test(instructions));

const sentencesOf = (text: string) => text.split(/(?<=[.!?]["”]?)\s+/);
/** A list that is already numbered is not changed. */
function numbered(text: string): string {
  const sentences = sentencesOf(text.replaceAll(/^\d+\. /gm, ''));
  return sentences.map((sentence, index) => `${index + 1}. ${sentence}`).join('\n');
}

/** "Add to the plan that the client will call" → "The client will call." */
function statementIn(instructions: string): string {
  const statement = instructions
    .replace(ADDS, '')
    .replace(/\s+(to|in|under)\s+the\s+[\w ]+?(?=$|[:.,]|\s+that\b)/i, '')
    .replace(/^[\s:,]*(that\b)?\s*/i, '');
  const sentence = (statement || instructions).replace(/^\w/, (letter) => letter.toUpperCase());
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function isSection(element: unknown): element is NoteSection {
  const { title, text } = Object(element);
  return typeof title === 'string' && typeof text === 'string';
}

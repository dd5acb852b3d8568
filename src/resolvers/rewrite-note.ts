import { createHash } from 'node:crypto';

import type { Context } from '../context.ts';
import { KeyReused } from '../store/once.ts';
import { type ChangeOutcome, type Deed, type NoteTarget, changeNote } from './note-change.ts';
import { told } from './unclear.ts';

const MOST_CHARACTERS = 5_000;
const LONGEST_KEY = 200;

interface Rewrite extends NoteTarget {
  readonly idempotencyKey?: string | null | undefined;
}

interface MagicEdit extends Rewrite {
  readonly userInstructions: string;
}

/** Trimmed as the Partner API would, so that what can't succeed is never sent. */
export async function magicEdit(input: MagicEdit, ctx: Context): Promise<ChangeOutcome> {
  const instructions = input.userInstructions.trim();
  const issues = [...instructionIssues(instructions), ...keyIssues(input.idempotencyKey)];
  if (issues.length > 0) return { kind: 'invalid', issues };
  const send = () => ctx.partner.writes.magicEdit(input.id, instructions, ctx.usage);
  return rewrite(input, ['magicEdit', input.id, instructions], send, ctx);
}

export async function regenerateNote(input: Rewrite, ctx: Context): Promise<ChangeOutcome> {
  const issues = keyIssues(input.idempotencyKey);
  if (issues.length > 0) return { kind: 'invalid', issues };
  const send = () => ctx.partner.writes.regenerate(input.id, ctx.usage);
  return rewrite(input, ['regenerate', input.id], send, ctx);
}

async function rewrite(
  input: Rewrite,
  print: readonly string[],
  send: () => Promise<unknown>,
  ctx: Context,
): Promise<ChangeOutcome> {
  const { idempotencyKey: key } = input;
  const once = typeof key === 'string' ? underKey(key, print, ctx) : undefined;
  const write = { send, ...(once && { once }) };
  return told('await its progress_note_regenerated event before sending it again', () =>
    changeNote(input, write, ctx),
  );
}

/**
 * The Partner API has no idempotency keys, and a second edit edits twice: so they are kept here. A key belongs to the
 * viewer's subject, whatever the grants: with them in its name, a token that was renewed with one grant more between
 * a click and its retry would edit again. Grants still decide, since every caller proves its own access first.
 */
function underKey(key: string, print: readonly string[], ctx: Context) {
  const name = `once:${digest([ctx.viewer().subject, key])}`;
  return async (perform: () => Promise<Deed>): Promise<Deed> => {
    try {
      return await ctx.once(name, digest(print), perform);
    } catch (error) {
      if (!(error instanceof KeyReused)) throw error;
      return { kind: 'invalid', issues: ['"idempotencyKey" was used before, with other input.'] };
    }
  };
}

/** Characters as people count them: an emoji is one. */
function instructionIssues(text: string): string[] {
  const count = Array.from(text).length;
  if (count === 0) return ['"userInstructions" must not be empty.'];
  if (text.includes('\0')) return ['"userInstructions" must be text, without NUL characters.'];
  return count > MOST_CHARACTERS
    ? [`"userInstructions" must have at most ${MOST_CHARACTERS} characters, but got ${count}.`]
    : [];
}

function keyIssues(key: string | null | undefined): string[] {
  const fits = typeof key !== 'string' || (key.length > 0 && key.length <= LONGEST_KEY);
  return fits
    ? []
    : [`"idempotencyKey" must have 1 to ${LONGEST_KEY} characters, but got ${key.length}.`];
}

/** Neither a viewer's name nor a word of the instructions is stored. */
const digest = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

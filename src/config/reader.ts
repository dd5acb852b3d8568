import type { Variable } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Reads variables one by one and goes on after a bad one, so that an operator can mend them all at once. */
export interface Reader {
  /** What was wrong so far, one sentence a variable. */
  readonly problems: readonly string[];
  refuse(problem: string): void;
  /** Trimmed; undefined when unset or blank, as compose files leave `NAME=` for what is not wanted. */
  text(name: Variable): string | undefined;
  /** As it stands, for bytes that must match the other side's. Its value is in no message. */
  secret(name: Variable): string | undefined;
  integer<Fallback extends number | undefined>(
    name: Variable,
    range: Range,
    fallback: Fallback,
  ): number | Fallback;
  choice<Choice extends string>(
    name: Variable,
    choices: readonly Choice[],
    fallback: Choice,
  ): Choice;
  /** An absolute URL of one of the protocols. Its value is in no message: a URL may hold a password. */
  url(name: Variable, protocols: readonly string[]): URL | undefined;
}

export function createReader(env: Environment): Reader {
  const problems: string[] = [];
  const refuse = (problem: string) => void problems.push(problem);

  const secret = (name: Variable): string | undefined => {
    const value = env[name];
    if (value === undefined || value.trim() === '') return undefined;
    if (value !== value.trim())
      refuse(`${name} must not begin or end with white space, but it does (a copied line break?)`);
    return value;
  };

  const text = (name: Variable): string | undefined => env[name]?.trim() || undefined;

  return {
    problems,
    refuse,
    text,
    secret,
    integer: (name, { min, max }, fallback) => {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      refuse(`${name} must be a whole number between ${min} and ${max}, but got ${shown(value)}`);
      return fallback;
    },
    choice: (name, choices, fallback) => {
      const value = text(name);
      if (value === undefined) return fallback;
      const chosen = choices.find((choice) => choice === value);
      if (chosen === undefined)
        refuse(`${name} must be one of ${choices.join(', ')}, but got ${shown(value)}`);
      return chosen ?? fallback;
    },
    url: (name, protocols) => {
      const value = text(name);
      if (value === undefined) return undefined;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      if (url && protocols.includes(url.protocol) && url.hostname !== '') return url;
      const wanted = protocols.map((protocol) => `${protocol}//`).join(' or ');
      const came = url ? `one that begins with ${shown(url.protocol)}` : 'something else';
      refuse(`${name} must be an absolute URL (${wanted}), but got ${came}`);
      return undefined;
    },
  };
}

/** A long value in the wrong place may be a secret that was pasted there: it is described, not shown. */
export function shown(value: string): string {
  return value.length <= 24 ? JSON.stringify(value) : `${value.length} characters`;
}

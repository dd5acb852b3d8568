import { readFileSync } from 'node:fs';

import { type Config, ConfigError } from '../config.ts';
import { isObject } from '../json.ts';
import { requestRejected } from './client-error.ts';
import { documentProblems, parseWithinLimits } from './plugins/use-document-limits.ts';

export type TrustedDocuments = NonNullable<ReturnType<typeof readTrustedDocuments>>;

/**
 * Reads `TRUSTED_DOCUMENTS`: a JSON object, hash → document, as graphql-codegen and Relay's compiler write it. If it is
 * not set, any document may run. Yoga's plugin for this sees only requests that Yoga's own HTTP layer parses: here none.
 */
export function readTrustedDocuments(config: Config) {
  if (!config.trustedDocuments) return undefined;
  const entries = Object.entries(readJson(config.trustedDocuments));
  const problems = entries.flatMap(([id, text]) =>
    problemsOf(text, config).map((problem) => `${id}: ${problem}`),
  );
  if (entries.length === 0) problems.push('it holds no document, so nothing could run');
  if (problems.length > 0) throw refused(problems);

  const documents = new Map(entries.map(([id, text]) => [withoutPrefix(id), String(text)]));
  const texts = new Set(documents.values());
  // Each function returns a document's text, or throws a `ClientError`.
  return {
    byId(id: unknown): string {
      const text = typeof id === 'string' ? documents.get(withoutPrefix(id)) : undefined;
      if (text === undefined) throw notTrusted(404, 'no document of this id is among them');
      return text;
    },
    byText(text: string): string {
      if (!texts.has(text)) throw notTrusted(400, 'this one is not among them');
      return text;
    },
  };
}

function readJson(file: string): object {
  try {
    const json: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isObject(json)) return json;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw refused([code ? `the file can't be read${code}` : 'the file is not valid JSON']);
  }
  throw refused(['the file must hold a JSON object, hash → document']);
}

function problemsOf(text: unknown, config: Config): readonly string[] {
  if (typeof text !== 'string') return ['must be the text of a document'];
  try {
    const document = parseWithinLimits(text, config.limits);
    return documentProblems(document, config.http.graphiql).map(({ message }) => message);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const refused = (problems: readonly string[]) =>
  new ConfigError(`TRUSTED_DOCUMENTS refused:\n- ${problems.join('\n- ')}`);

function notTrusted(status: number, reason: string) {
  const message = `Only documents that were registered with this gateway run, and ${reason}.`;
  return requestRejected(status, message, 'DOCUMENT_NOT_TRUSTED');
}

/** GraphQL over HTTP puts the algorithm in front. */
const withoutPrefix = (id: string): string => id.replace(/^sha256:/, '');

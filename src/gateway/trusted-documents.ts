import { readFileSync } from 'node:fs';

import { type Config, ConfigError } from '../config.ts';
import { type JsonObject, isObject } from '../json.ts';
import { requestRejected } from './client-error.ts';
import { documentProblems, parseWithinLimits } from './plugins/use-document-limits.ts';

/**
 * Returns the document that a request's body holds or names by its id, or throws a `ClientError`. With `TRUSTED_DOCUMENTS`
 * only those run. Yoga's plugin for this sees only requests that Yoga's own HTTP layer parses: here none.
 */
export function createDocumentReader(config: Config) {
  const trusted = config.trustedDocuments
    ? readTrusted(config.trustedDocuments, config)
    : undefined;
  const texts = new Set(trusted?.values());

  return (body: JsonObject): string => {
    const query = body['query'] ?? '';
    // Clients of graphql-ws can't omit "query": they send it empty.
    const id = query === '' ? documentIdOf(body) : undefined;
    if (id === undefined) {
      if (typeof query !== 'string' || query === '')
        throw requestRejected(400, '"query" must be a string that holds a GraphQL document.');
      if (trusted && !texts.has(query)) throw notTrusted(400, 'this one is not among them');
      return query;
    }
    // Clients recognize this message and send the document itself.
    if (!trusted)
      throw requestRejected(404, 'PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED');
    const text = typeof id === 'string' ? trusted.get(withoutPrefix(id)) : undefined;
    if (text === undefined) throw notTrusted(404, 'no document of this id is among them');
    return text;
  };
}

/** The id as GraphQL over HTTP specifies it, or as Apollo Client sends it. */
function documentIdOf({ documentId, extensions }: JsonObject): unknown {
  const { persistedQuery } = Object(extensions);
  return documentId ?? persistedQuery?.sha256Hash ?? undefined;
}

/** The file is a JSON object, hash → document, as graphql-codegen and Relay's compiler write it. */
function readTrusted(file: string, config: Config): ReadonlyMap<string, string> {
  const entries = Object.entries(readJson(file));
  const problems = entries.flatMap(([id, text]) =>
    problemsOf(text, config).map((problem) => `${id}: ${problem}`),
  );
  if (entries.length === 0) problems.push('it holds no document, so nothing could run');
  if (problems.length > 0) throw refused(problems);
  return new Map(entries.map(([id, text]) => [withoutPrefix(id), String(text)]));
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

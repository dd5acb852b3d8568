/** What stands in a log line in place of a text that might hold anything about a person. */
export const WITHHELD = '[withheld]';

const PLAIN = /^[\w .,:;/{}()[\]<>=-]{0,160}$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const OPERATION_NAME = /^[A-Za-z0-9_]{1,64}$/;
const RECORD = /^[A-Za-z]{1,32}:[\w:-]{1,128}$/;
// Line breaks of every script and what terminals obey, so that a line can't be forged or hidden.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Codes, templates and the like. No address, no id of a person, nothing longer than a sentence. */
export function plainText(text: string): string {
  return PLAIN.test(text) && !UUID.test(text) ? text : WITHHELD;
}

/** A message of our own errors: sentences, so more may stand in it, but still no URL, address or id. */
export function ownMessage(message: string): string {
  const suspicious = message.length > 4_000 || /@|:\/\//.test(message) || UUID.test(message);
  return suspicious ? WITHHELD : message.replace(CONTROLS, ' ');
}

/** A frontend chooses its operations' names, so only a plain one is repeated. */
export function operationName(name: string | undefined): string {
  if (name === undefined) return 'anonymous';
  return OPERATION_NAME.test(name) ? name : WITHHELD;
}

/** `Type:id`, for the audit. */
export function recordName(record: string): string {
  return RECORD.test(record) ? record : WITHHELD;
}

/** Who asked, as the token's issuer spells it: shown in the audit, but never able to leave its line. */
export function subjectsText(subject: string | readonly string[]): string | string[] {
  return typeof subject === 'string' ? subjectText(subject) : subject.map(subjectText);
}

const subjectText = (subject: string): string => subject.slice(0, 256).replace(CONTROLS, '?');

import { expect, it } from 'vitest';

import { type AuditLine, createAudit } from '../../src/observability/audit.ts';

function capture() {
  const lines: AuditLine[] = [];
  const write = (line: AuditLine) => void lines.push(line);
  const prepareAudit = (line: AuditLine) => (requestId: string) => write({ ...line, requestId });
  return { lines, audit: createAudit({ audit: write, prepareAudit }) };
}

it('names the operation and the request in the lines of reads, denials, changes and repeated answers', () => {
  const { lines, audit } = capture();
  const operation = audit.begin('anna', 'Note', 'op-1', 'request-1');
  operation.writeNow('magicEdit: changed', 'ProgressNote:a');
  operation.recordRead('ProgressNote:a');
  operation.recordRead('ProgressNote:a');
  operation.recordDenied('Clinic:b');
  operation.finish();
  audit.again('anna', 'Note', 'op-1')('request-1');
  const about = { subject: 'anna', operation: 'Note', id: 'op-1', requestId: 'request-1' };
  expect(lines).toEqual([
    { ...about, outcome: 'magicEdit: changed', records: ['ProgressNote:a'] },
    { ...about, outcome: 'read', records: ['ProgressNote:a'] },
    { ...about, outcome: 'denied', records: ['Clinic:b'] },
    { ...about, outcome: 'read again', records: [] },
  ]);
});

it('puts at most a hundred records into a line, and writes no line without a record', () => {
  const { lines, audit } = capture();
  audit.begin('anna', undefined).finish();
  expect(lines).toEqual([]);
  const operation = audit.begin('anna', undefined);
  for (let i = 0; i < 250; i += 1) operation.recordRead(`Client:${i}`);
  operation.finish();
  expect(lines.map(({ records }) => records.length)).toEqual([100, 100, 50]);
});

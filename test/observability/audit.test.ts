import { expect, it } from 'vitest';

import { createLog } from '../../src/observability/log.ts';

function capture() {
  const lines: { readonly records: readonly string[] }[] = [];
  const { audit } = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  return { lines, audit };
}

it('names the operation and the request in the lines of reads, denials, changes and repeated answers', () => {
  const { lines, audit } = capture();
  const operation = audit.begin('anna', 'Note', 'op-1', 'request-1');
  operation.writeNow('magicEdit: changed', 'ProgressNote:a');
  operation.read.add('ProgressNote:a');
  operation.read.add('ProgressNote:a');
  operation.denied.add('Clinic:b');
  operation.finish();
  operation.prepareRepeated()?.('request-1');
  const about = { subject: 'anna', operation: 'Note', id: 'op-1', requestId: 'request-1' };
  expect(lines).toMatchObject([
    { ...about, outcome: 'magicEdit: changed', records: ['ProgressNote:a'] },
    { ...about, outcome: 'read', records: ['ProgressNote:a'] },
    { ...about, outcome: 'denied', records: ['Clinic:b'] },
    { ...about, outcome: 'read again', records: ['ProgressNote:a'] },
  ]);
});

it('puts at most a hundred records into a line, and writes no line without a record', () => {
  const { lines, audit } = capture();
  audit.begin('anna', 'Rows').finish();
  expect(lines).toEqual([]);
  const operation = audit.begin('anna', 'Rows');
  for (let i = 0; i < 250; i += 1) operation.read.add(`Client:${i}`);
  operation.finish();
  expect(lines.map(({ records }) => records.length)).toEqual([100, 100, 50]);
});

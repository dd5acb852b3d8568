import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { auditDenial, auditRead } from './access/audit-reads.ts';
import { isOpen } from './access/prove.ts';
import { findInList } from './lookup/find-in-list.ts';
import type { AssessmentRef, ClientRef, MagicEditRef, ScoreRef } from './refs.ts';

/** Assessments and magic edits are looked up in one list, that of the parent in their global id. */
const assessmentRecord = ({ clinicId, id }: AssessmentRef, ctx: Context) =>
  findInList({ name: 'assessmentsOfClinic', id: clinicId }, id, ctx);
const magicEditRecord = ({ clinicianId, id }: MagicEditRef, ctx: Context) =>
  findInList({ name: 'magicEditsOfClinician', id: clinicianId }, id, ctx);

export async function assessmentById(
  { clinicId, id }: { readonly clinicId: Uuid; readonly id: string },
  wantsAttributes: boolean,
  ctx: Context,
): Promise<AssessmentRef | null> {
  const assessment = { kind: 'assessment', id, clinicId } as const;
  if (!(await isOpen({ kind: 'clinic', id: clinicId, open: false }, ctx))) return null;
  return !wantsAttributes || (await assessmentRecord(assessment, ctx)) ? assessment : null;
}

export function assessmentAttribute<K extends 'name' | 'raw'>(name: K) {
  return (assessment: AssessmentRef, _args: unknown, ctx: Context) =>
    whenLoaded(
      assessment.record ?? assessmentRecord(assessment, ctx),
      (record) => record?.[name] ?? null,
    );
}

export async function magicEditById(
  { clinicianId, id }: { readonly clinicianId: Uuid; readonly id: Uuid },
  wantsAttributes: boolean,
  ctx: Context,
): Promise<MagicEditRef | null> {
  const edit = { kind: 'magic-edit', id, clinicianId } as const;
  const isFound =
    (await isOpen({ kind: 'clinician', id: clinicianId, open: false }, ctx)) &&
    (!wantsAttributes || (await magicEditRecord(edit, ctx)) !== undefined);
  (isFound ? auditRead : auditDenial)(edit, ctx);
  return isFound ? edit : null;
}

export const magicEditRaw = (edit: MagicEditRef, _args: unknown, ctx: Context) =>
  whenLoaded(edit.record ?? magicEditRecord(edit, ctx), (record) => record?.raw ?? null);

interface ScoreName {
  readonly id: Uuid;
  /** From the score's global id. Without it the score is open to `partner` only. */
  readonly clientId?: Uuid | undefined;
}

export async function scoreById(name: ScoreName, ctx: Context): Promise<ScoreRef | null> {
  const { id, clientId } = name;
  const open = clientId
    ? await isOpen({ kind: 'client', id: clientId, open: false }, ctx)
    : ctx.reach.isPartner;
  const score = open ? await scoreOf(name, ctx) : null;
  if (!score) ctx.audit?.recordDenied(`AssessmentScore:${id}`);
  return score;
}

export function scoreOf({ id, clientId }: ScoreName, ctx: Context): Loaded<ScoreRef | null> {
  return whenLoaded(ctx.loaders.score(id, clientId ? { clientId } : undefined), (record) => {
    if (!record) return null;
    ctx.audit?.recordRead(`AssessmentScore:${id}`);
    return { kind: 'score', id, record, clientId };
  });
}

export function clientOfScore({ clientId }: ScoreRef): ClientRef | null {
  return clientId ? { kind: 'client', id: clientId, open: true } : null;
}

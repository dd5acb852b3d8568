import type { Answer } from '../answer.ts';

/** `child` lies under `parent`. Both are `kind:id`, e.g. `client:<uuid>` under `clinician:<uuid>`. */
export interface Link {
  readonly child: string;
  readonly parent: string;
  /** Where in the parent's list it stood. */
  readonly page?: number;
  readonly seenAt: number;
}

export type LinkEnds = Pick<Link, 'child' | 'parent'>;

/** A link to write, or one to remove. */
export type LinkChange = Link | GoneLink;

interface GoneLink extends LinkEnds {
  readonly isGone: true;
}

export const isGone = (change: LinkChange): change is GoneLink => 'isGone' in change;

/** What lies under what. Ids only, bounded, forgotten when unseen for long. */
export interface LineageStore {
  /** Written behind and coalesced: a crash may lose the last moments, no more. Reads see it at once. */
  record(links: readonly Link[]): void;
  parentsOf(children: readonly string[]): Promise<readonly (readonly Link[])[]>;
  /** What `parentsOf` would answer without asking the engine; undefined where it would have to. */
  known(child: string): readonly Link[] | undefined;
  /** The same as an answer that turns invalid when anything but the time of a link changes. */
  kept(child: string): Answer<readonly Link[]> | undefined;
  /** The children of one kind, the hundred last seen. */
  childrenOf(parent: string, kind: string): Promise<readonly string[]>;
  remove(links: readonly LinkEnds[]): void;
  flush(): Promise<void>;
}

/** What an engine does for `createLineage`: plain reads and writes, with no memory of their own. */
export interface LineageEngine {
  write(changes: readonly LinkChange[]): Promise<void>;
  parentsOf(children: readonly string[]): Promise<readonly (readonly Link[])[]>;
  childrenOf(parent: string, kind: string): Promise<readonly string[]>;
}

/** A child unseen for this long is forgotten; its next sighting brings it back. */
export const LINEAGE_KEPT_MS = 90 * 24 * 3_600_000;
export const LINEAGE_MAX_LINKS = 1_000_000;
export const CHILDREN_LIMIT = 100;

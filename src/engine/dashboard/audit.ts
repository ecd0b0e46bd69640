import type { AuditAction } from '../../core/dashboard/auditActions.ts';
import type { Environment } from '../../core/environment.ts';
import { type AuditLogRow, insertAuditRow, lockAuditHead } from '../../storage/dashboard/auditLog.ts';
import type { Queryable } from '../../storage/database.ts';
import type { AuditSeal } from '../../vault/vault.ts';
import type { Context } from '../context.ts';

/** A person of the dashboard, whoever runs commands on the machine, or Florin by itself. */
export type Actor = {
  readonly kind: 'person' | 'operator' | 'system';
  readonly id: string | null;
  readonly name: string;
};

export type AuditEntry = {
  readonly accountId: string;
  readonly environment: Environment | null;
  readonly actor: Actor;
  readonly action: AuditAction;
  /** What it was done to: an id or a network. */
  readonly subject: string | null;
  /** Never a secret. */
  readonly detail: Record<string, unknown>;
  /** Of the client, where there is one. */
  readonly address: string | null;
};

export const systemActor: Actor = { kind: 'system', id: null, name: 'Florin' };
export const operatorActor: Actor = { kind: 'operator', id: null, name: 'Command line' };

export const personActor = (person: { readonly personId: string; readonly name: string }): Actor => ({
  kind: 'person',
  id: person.personId,
  name: person.name,
});

/** Who acts, and from where. */
export type By = {
  readonly person: { readonly accountId: string; readonly personId: string; readonly name: string };
  readonly address: string;
};

/** Of what a person did with their account, or in one environment of it. */
export const entryBy = (
  { person, address }: By,
  environment: Environment | null,
  done: Pick<AuditEntry, 'action' | 'subject' | 'detail'>,
): AuditEntry => ({ accountId: person.accountId, environment, actor: personActor(person), address, ...done });

export const auditSealOf = ({ sequence, at, ...row }: Omit<AuditLogRow, 'hash'>): AuditSeal => ({
  ...row,
  sequence: BigInt(sequence),
  atMs: at.getTime(),
});

/** Before the first row there is none to name. */
export const chainStart = Buffer.alloc(32);

/**
 * Adds a row to the account's log, in the transaction of what it tells. Others that add to the same log wait for the end
 * of this one, so it comes last where it can.
 */
export const recordAudit = async (context: Pick<Context, 'vault'>, tx: Queryable, entry: AuditEntry): Promise<void> => {
  const head = await lockAuditHead(tx, entry.accountId, chainStart);
  const row = {
    accountId: entry.accountId,
    sequence: String(BigInt(head.sequence) + 1n),
    at: head.now,
    environment: entry.environment,
    actorKind: entry.actor.kind,
    actorId: entry.actor.id,
    actorName: entry.actor.name,
    action: entry.action,
    subject: entry.subject,
    detail: JSON.stringify(entry.detail),
    address: entry.address,
    previousHash: head.hash,
  };
  await insertAuditRow(tx, { ...row, hash: context.vault.auditHash(auditSealOf(row)) });
};

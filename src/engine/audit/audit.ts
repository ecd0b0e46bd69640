import { type AuditLogRow, insertAuditRow, lockAuditHead } from '../../storage/audit/auditLog.ts';
import { registerDigest } from '../../storage/audit/register.ts';
import type { Queryable } from '../../storage/database.ts';
import type { AuditSeal } from '../../vault/vault.ts';
import { type ActOfAccount, type Announcer, announce } from './announce.ts';
import { headValues, nextRegister } from './register.ts';

/** A key of the API, a person in the dashboard, the operator at the command line, or Florin itself. */
export type Actor = {
  readonly kind: 'key' | 'person' | 'operator' | 'system';
  readonly id: string | null;
  readonly name: string;
};

export type AuditEntry = ActOfAccount & {
  readonly actor: Actor;
  /** The client's address, if there is a client. */
  readonly address: string | null;
};

export const systemActor: Actor = { kind: 'system', id: null, name: 'Florin' };
export const operatorActor: Actor = { kind: 'operator', id: null, name: 'Command line' };

/** Named by its id: names of keys need not differ. */
export const keyActor = (keyId: string): Actor => ({ kind: 'key', id: keyId, name: keyId });

/** With the e-mail address: people choose their names, and two may have the same. */
export const personActor = (person: {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
}): Actor => ({
  kind: 'person',
  id: person.personId,
  name: `${person.name} <${person.email}>`,
});

export const auditSealOf = ({ sequence, at, ...row }: Omit<AuditLogRow, 'hash'>): AuditSeal => ({
  ...row,
  sequence: BigInt(sequence),
  atMs: at.getTime(),
});

/**
 * Adds a row to the account's log and announces what it says, in the transaction of the action. It locks the log until
 * the transaction ends, so call it last if possible.
 */
export const recordAudit = async (context: Announcer, tx: Queryable, entry: AuditEntry): Promise<void> => {
  const head = await lockAuditHead(tx, entry.accountId);
  const register = await nextRegister(context, tx, entry.accountId, head);
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
    register: registerDigest(register),
  };
  const hash = context.vault.auditHash(auditSealOf(row));
  const rowSeal = context.vault.rowSeal('audit_heads', headValues(row.accountId, row.sequence, hash, register));
  await insertAuditRow(tx, { ...row, hash }, { register, rowSeal });
  await announce(context, tx, entry, { at: row.at, auditLog: { sequence: row.sequence, hash: hash.toString('hex') } });
};

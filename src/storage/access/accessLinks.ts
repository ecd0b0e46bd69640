import type { Role } from '../../core/access/rights.ts';
import type { Queryable } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';

export type AccessLink = {
  accountId: string;
  id: string;
  kind: 'setup' | 'invitation';
  role: Role;
  email: string | null;
  createdAt: Date;
  expiresAt: Date;
};

/** For the alias t. */
const columns = `t.account_id as "accountId", t.id, t.kind, t.role, t.email, t.created_at as "createdAt",
  t.expires_at as "expiresAt"`;
const read = `${columns}, ${sealsOf({ t: 'access_links' })}`;

const insertStatement = {
  name: 'link-insert',
  text: `insert into access_links as t (account_id, id, token_hash, kind, role, email, created_by, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(secs => $8))
    returning ${columns}, ${toSeal('access_links', 't')}`,
};
export const insertAccessLink = async (
  tx: Queryable,
  link: Omit<AccessLink, 'createdAt' | 'expiresAt'> & {
    tokenHash: Buffer;
    createdBy: string | null;
    livesSeconds: number;
  },
): Promise<AccessLink> => {
  const { accountId, id, tokenHash, kind, role, email, createdBy, livesSeconds } = link;
  const values = [accountId, id, tokenHash, kind, role, email, createdBy, livesSeconds];
  return (await tx.query<AccessLink>(insertStatement, values))[0]!;
};

const isOpen = `t.used_at is null and t.expires_at > clock_timestamp()`;

const findStatement = {
  name: 'link-find',
  text: `select ${read} from access_links t where t.token_hash = $1 and t.kind = $2 and ${isOpen}`,
};
/** Null if the link was used, has expired or never existed. */
export const findAccessLink = async (
  db: Queryable,
  tokenHash: Buffer,
  kind: AccessLink['kind'],
): Promise<AccessLink | null> => (await db.query<AccessLink>(findStatement, [tokenHash, kind]))[0] ?? null;

const useStatement = {
  name: 'link-use',
  text: sealedUpdate('access_links', {
    set: { used_at: 'clock_timestamp()' },
    where: `t.token_hash = $1 and t.kind = $2 and ${isOpen}`,
    returning: columns,
  }),
};
/** Uses the link up. Of two concurrent calls, one gets null. */
export const spendAccessLink = async (
  tx: Queryable,
  tokenHash: Buffer,
  kind: AccessLink['kind'],
): Promise<AccessLink | null> => (await tx.query<AccessLink>(useStatement, [tokenHash, kind]))[0] ?? null;

const endedStatement = {
  name: 'link-ended',
  text: `select exists (select from audit_log l where l.account_id = $1
    and (l.action = 'person.joined' and l.detail ->> 'link' = $2
      or l.action = 'invitation.withdrawn' and l.subject = $2)) as ended`,
};
/** Whether the link was used or withdrawn according to the audit log: a seal cannot show that an open one was put back. */
export const isLinkEnded = async (db: Queryable, { accountId, id }: AccessLink): Promise<boolean> =>
  (await db.query<{ ended: boolean }>(endedStatement, [accountId, id]))[0]!.ended;

const listStatement = {
  name: 'link-list-invitations',
  text: `select ${read} from access_links t where t.account_id = $1 and t.kind = 'invitation' and ${isOpen}
    order by t.id limit 1000`,
};
export const listInvitations = (db: Queryable, accountId: string): Promise<AccessLink[]> =>
  db.query<AccessLink>(listStatement, [accountId]);

const withdrawStatement = {
  name: 'link-withdraw',
  text: `delete from access_links t where t.account_id = $1 and t.kind = 'invitation' and ${isOpen}
    and (t.id = $2 or t.email = $3 or t.created_by = $4) returning ${read}`,
};
/** By id, or all for an e-mail address, or all that a person created. */
export const withdrawInvitations = (
  tx: Queryable,
  accountId: string,
  by: { id?: string; email?: string; createdBy?: string },
): Promise<AccessLink[]> =>
  tx.query<AccessLink>(withdrawStatement, [accountId, by.id ?? null, by.email ?? null, by.createdBy ?? null]);

const dropStatement = {
  name: 'link-drop-setup',
  text: `delete from access_links where account_id = $1 and kind = 'setup' and expires_at < clock_timestamp()`,
};
/** Every start without an owner makes a setup link, so expired ones would pile up. */
export const dropOldSetupLinks = async (tx: Queryable, accountId: string): Promise<void> => {
  await tx.query(dropStatement, [accountId]);
};

const lockStatement = {
  name: 'team-lock',
  text: `select pg_advisory_xact_lock(hashtextextended('florin team ' || $1, 0))`,
};
/** Serialises changes of the owners of an account. An advisory lock, because the first change has no row to lock. */
export const lockTeam = async (tx: Queryable, accountId: string): Promise<void> => {
  await tx.query(lockStatement, [accountId]);
};

import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';

// The person's row comes first, as for sessions: who changes a person locks it first, too.
const forgetStatement = {
  name: 'recovery-link-forget',
  text: sealedUpdate('people', { set: { recovery_hash: 'null' }, where: 't.id = $1 and t.recovery_hash is not null' }),
};
const endStatement = {
  name: 'recovery-link-end',
  text: sealedUpdate('recovery_links', {
    set: { used_at: 'clock_timestamp()' },
    where: 't.person_id = $1 and t.used_at is null',
  }),
};
/** Ends the open link of a person: they changed their password, or joined another account. */
export const endRecoveryLinks = async (tx: Queryable, personId: string): Promise<void> => {
  await tx.query(forgetStatement, [personId]);
  await tx.query(endStatement, [personId]);
};

const nameStatement = {
  name: 'recovery-link-name',
  text: sealedUpdate('people', { set: { recovery_hash: '$2' }, where: 't.id = $1' }),
};
const insertStatement = {
  name: 'recovery-link-insert',
  text: `insert into recovery_links as t (token_hash, person_id, opens_at, expires_at, by_mail)
    values ($1, $2, clock_timestamp() + make_interval(secs => $3), clock_timestamp() + make_interval(secs => $3 + $4), $5)
    returning t.opens_at as "opensAt", t.expires_at as "expiresAt", ${toSeal('recovery_links', 't')}`,
};
/** Only the latest link of a person works. */
export const putRecoveryLink = async (
  tx: Queryable,
  link: {
    readonly tokenHash: Buffer;
    readonly personId: string;
    readonly waitSeconds: number;
    readonly livesSeconds: number;
    readonly byMail: boolean;
  },
): Promise<{ opensAt: Date; expiresAt: Date }> => {
  const { tokenHash, personId, waitSeconds, livesSeconds, byMail } = link;
  await endRecoveryLinks(tx, personId);
  await tx.query(nameStatement, [personId, tokenHash]);
  const values = [tokenHash, personId, waitSeconds, livesSeconds, byMail];
  return (await tx.query<Row & { opensAt: Date; expiresAt: Date }>(insertStatement, values))[0]!;
};

const spendStatement = {
  name: 'recovery-link-spend',
  text: sealedUpdate('recovery_links', {
    set: { used_at: 'clock_timestamp()' },
    where: `t.token_hash = $1 and t.person_id = $2 and t.used_at is null and t.opens_at <= clock_timestamp()
      and t.expires_at > clock_timestamp()`,
  }),
};
const forgetSpentStatement = {
  name: 'recovery-link-forget-spent',
  text: sealedUpdate('people', { set: { recovery_hash: 'null' }, where: 't.id = $1 and t.recovery_hash = $2' }),
};
/** Uses the link up. False if it is not open yet, was used, replaced, has expired or never existed. */
export const spendRecoveryLink = async (tx: Queryable, personId: string, tokenHash: Buffer): Promise<boolean> =>
  (await tx.query(forgetSpentStatement, [personId, tokenHash])).length > 0 &&
  (await tx.query(spendStatement, [tokenHash, personId])).length > 0;

/** A link that can still be used. */
export type Recovery = {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
  readonly opensAt: Date;
  /** The person asked for it on the sign-in page. Otherwise the operator made it. */
  readonly byMail: boolean;
};

/** `r` and `p`. A link that its person no longer names was used, replaced or ended, whatever rows there are. */
const openLinks = `recovery_links r
  join people p on p.id = r.person_id and p.removed_at is null and p.recovery_hash = r.token_hash`;
const isOpen = 'r.used_at is null and r.expires_at > clock_timestamp()';
const recoveryColumns = `p.id as "personId", p.name, p.email, r.opens_at as "opensAt",
  r.by_mail as "byMail"`;

const findStatement = {
  name: 'recovery-link-find',
  text: `select ${recoveryColumns}, ${sealsOf({ r: 'recovery_links', p: 'people' })}
    from ${openLinks} where r.token_hash = $1 and ${isOpen}`,
};
/** Also of a link that is not open yet. */
export const findRecoveryLink = async (db: Queryable, tokenHash: Buffer): Promise<Recovery | null> =>
  (await db.query<Row & Recovery>(findStatement, [tokenHash]))[0] ?? null;

const openHashStatement = {
  name: 'recovery-link-open-hash',
  text: `select r.token_hash as hash from ${openLinks} where p.id = $1 and ${isOpen}`,
};
/** The hash of the token of a person's open link; also of a forged one, which only refuses another. */
export const findOpenRecoveryHash = async (db: Queryable, personId: string): Promise<Buffer | null> =>
  (await db.query<Row & { hash: Buffer }>(openHashStatement, [personId]))[0]?.hash ?? null;

const listStatement = {
  name: 'recovery-link-list',
  text: `select ${recoveryColumns}, ${sealsOf({ r: 'recovery_links', p: 'people', m: 'memberships' })}
    from ${openLinks} join memberships m on m.person_id = p.id
    where m.account_id = $1 and m.removed_at is null and ${isOpen} order by r.opens_at`,
};
/** The open recovery links of an account's members. */
export const listRecoveries = (db: Queryable, accountId: string): Promise<Recovery[]> =>
  db.query<Row & Recovery>(listStatement, [accountId]);

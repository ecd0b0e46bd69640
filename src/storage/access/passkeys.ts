import type { Queryable } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';

export type PasskeyRow = {
  personId: string;
  id: string;
  credentialId: Buffer;
  publicKey: Buffer;
  counter: string;
  transports: string[];
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** For the alias k. */
const columns = `k.person_id as "personId", k.id, k.credential_id as "credentialId", k.public_key as "publicKey",
  k.counter, k.transports, k.name, k.created_at as "createdAt", k.last_used_at as "lastUsedAt"`;
/** A passkey that its person no longer names was removed, whatever rows there are. */
const own = `${columns}, ${sealsOf({ k: 'passkeys', p: 'people' })}
  from passkeys k join people p on p.id = k.person_id and k.id = any(p.passkey_ids)`;

const nameStatement = {
  name: 'passkey-name',
  text: sealedUpdate('people', { set: { passkey_ids: 'array_append(t.passkey_ids, $2)' }, where: 't.id = $1' }),
};
const insertStatement = {
  name: 'passkey-insert',
  text: `insert into passkeys as k (person_id, id, credential_id, public_key, counter, transports, backed_up, name, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, clock_timestamp())) returning ${columns}, ${toSeal('passkeys', 'k')}`,
};
export const insertPasskey = async (
  tx: Queryable,
  passkey: Omit<PasskeyRow, 'createdAt' | 'lastUsedAt' | 'counter'> & { counter: number; backedUp: boolean },
  /** With its person: the same time says so later. Null for any other passkey. */
  createdAt: Date | null,
): Promise<PasskeyRow> => {
  const { personId, id, credentialId, publicKey, counter, transports, backedUp, name } = passkey;
  await tx.query(nameStatement, [personId, id]);
  const values = [personId, id, credentialId, publicKey, counter, transports, backedUp, name, createdAt];
  return (await tx.query<PasskeyRow>(insertStatement, values))[0]!;
};

const listStatement = {
  name: 'passkey-list',
  text: `select ${own} where p.id = $1 order by k.id limit 100`,
};
export const listPasskeys = (db: Queryable, personId: string): Promise<PasskeyRow[]> =>
  db.query<PasskeyRow>(listStatement, [personId]);

const bearerStatement = {
  name: 'passkey-bearer',
  text: `select k.person_id as "personId", ${sealsOf({ k: 'passkeys' })} from passkeys k where k.credential_id = $1`,
};
/** Whose passkey it is, or was. It need not work any more. */
export const findBearer = async (db: Queryable, credentialId: Buffer): Promise<string | null> =>
  (await db.query<{ personId: string }>(bearerStatement, [credentialId]))[0]?.personId ?? null;

const lockStatement = { name: 'passkey-lock', text: `select ${own} where k.credential_id = $1 for update of k` };
/** Locks the row, so that one of two answers with the same counter is refused. */
export const lockPasskey = async (tx: Queryable, credentialId: Buffer): Promise<PasskeyRow | null> =>
  (await tx.query<PasskeyRow>(lockStatement, [credentialId]))[0] ?? null;

const usedStatement = {
  name: 'passkey-used',
  text: sealedUpdate('passkeys', {
    set: { counter: '$2', backed_up: '$3', last_used_at: 'clock_timestamp()' },
    where: 't.credential_id = $1',
  }),
};
export const markPasskeyUsed = async (
  tx: Queryable,
  credentialId: Buffer,
  use: { counter: number; backedUp: boolean },
): Promise<void> => {
  await tx.query(usedStatement, [credentialId, use.counter, use.backedUp]);
};

const forgetStatement = {
  name: 'passkey-forget',
  text: sealedUpdate('people', {
    set: { passkey_ids: `nullif(array_remove(t.passkey_ids, $2), '{}')` },
    where: 't.id = $1 and $2 = any(t.passkey_ids)',
  }),
};
const formerStatement = {
  name: 'passkey-former',
  text: `select k.name, ${sealsOf({ k: 'passkeys' })} from passkeys k where k.person_id = $1 and k.id = $2`,
};
const sweepStatement = {
  name: 'passkey-sweep',
  text: `delete from passkeys k using people p where p.id = $1 and k.person_id = p.id
    and (k.id = any(p.passkey_ids)) is not true
    and (k.id = any(p.earlier_passkey_ids) and p.earlier_until > statement_timestamp()) is not true`,
};
/** Deletes the passkeys that a person has no more, and that no earlier sign-in of theirs has. */
export const sweepPasskeys = async (tx: Queryable, personId: string): Promise<void> => {
  await tx.query(sweepStatement, [personId]);
};

/** Returns the name of the passkey; null if the person has none with this id. */
export const deletePasskey = async (tx: Queryable, personId: string, id: string): Promise<string | null> => {
  if ((await tx.query(forgetStatement, [personId, id])).length === 0) return null;
  const [former] = await tx.query<{ name: string }>(formerStatement, [personId, id]);
  await sweepPasskeys(tx, personId);
  return former?.name ?? null;
};

const forgetAllStatement = {
  name: 'passkey-forget-all',
  text: sealedUpdate('people', { set: { passkey_ids: 'null' }, where: 't.id = $1' }),
};
const deleteAllStatement = {
  name: 'passkey-delete-all',
  text: `delete from passkeys where person_id = $1 returning id`,
};
/** Returns how many there were. */
export const deletePasskeys = async (tx: Queryable, personId: string): Promise<number> => {
  await tx.query(forgetAllStatement, [personId]);
  return (await tx.query(deleteAllStatement, [personId])).length;
};

export type ChallengePurpose = 'register' | 'sign-in' | 'prove';

const putStatement = {
  name: 'challenge-put',
  text: `insert into passkey_challenges (challenge, purpose, person_id, expires_at)
    values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))`,
};
export const putChallenge = async (
  db: Queryable,
  challenge: { bytes: Buffer; purpose: ChallengePurpose; personId: string | null; livesSeconds: number },
): Promise<void> => {
  const { bytes, purpose, personId, livesSeconds } = challenge;
  await db.query(putStatement, [bytes, purpose, personId, livesSeconds]);
};

const takeStatement = {
  name: 'challenge-take',
  text: `delete from passkey_challenges where challenge = $1 and purpose = $2 and person_id is not distinct from $3
    returning expires_at > clock_timestamp() as "isFresh"`,
};
/** Uses the challenge up. True if it was there and had not expired. */
export const takeChallenge = async (
  db: Queryable,
  bytes: Buffer,
  purpose: ChallengePurpose,
  personId: string | null,
): Promise<boolean> =>
  (await db.query<{ isFresh: boolean }>(takeStatement, [bytes, purpose, personId]))[0]?.isFresh ?? false;

import type { Queryable } from '../database.ts';

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

const columns = `person_id as "personId", id, credential_id as "credentialId",
  public_key as "publicKey", counter, transports, name, created_at as "createdAt", last_used_at as "lastUsedAt"`;

const insertStatement = {
  name: 'passkey-insert',
  text: `insert into passkeys (person_id, id, credential_id, public_key, counter, transports, backed_up, name)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
};
export const insertPasskey = async (
  tx: Queryable,
  passkey: Omit<PasskeyRow, 'createdAt' | 'lastUsedAt' | 'counter'> & { counter: number; backedUp: boolean },
): Promise<PasskeyRow> => {
  const { personId, id, credentialId, publicKey, counter, transports, backedUp, name } = passkey;
  const values = [personId, id, credentialId, publicKey, counter, transports, backedUp, name];
  return (await tx.query<PasskeyRow>(insertStatement, values))[0]!;
};

const listStatement = {
  name: 'passkey-list',
  text: `select ${columns} from passkeys where person_id = $1 order by id limit 100`,
};
export const listPasskeys = (db: Queryable, personId: string): Promise<PasskeyRow[]> =>
  db.query<PasskeyRow>(listStatement, [personId]);

const readStatement = { name: 'passkey-read', text: `select ${columns} from passkeys where credential_id = $1` };
export const readPasskey = async (db: Queryable, credentialId: Buffer): Promise<PasskeyRow | null> =>
  (await db.query<PasskeyRow>(readStatement, [credentialId]))[0] ?? null;

const lockStatement = { name: 'passkey-lock', text: `${readStatement.text} for update` };
/** Locks the row, so that one of two answers with the same counter is refused. */
export const lockPasskey = async (tx: Queryable, credentialId: Buffer): Promise<PasskeyRow | null> =>
  (await tx.query<PasskeyRow>(lockStatement, [credentialId]))[0] ?? null;

const usedStatement = {
  name: 'passkey-used',
  text: `update passkeys set counter = $2, backed_up = $3, last_used_at = clock_timestamp() where credential_id = $1`,
};
export const markPasskeyUsed = async (
  tx: Queryable,
  credentialId: Buffer,
  use: { counter: number; backedUp: boolean },
): Promise<void> => {
  await tx.query(usedStatement, [credentialId, use.counter, use.backedUp]);
};

const deleteStatement = {
  name: 'passkey-delete',
  text: `delete from passkeys where person_id = $1 and id = $2 returning name`,
};
/** Returns the name of the passkey; null if the person has none with this id. */
export const deletePasskey = async (tx: Queryable, personId: string, id: string): Promise<string | null> =>
  (await tx.query<{ name: string }>(deleteStatement, [personId, id]))[0]?.name ?? null;

const deleteAllStatement = {
  name: 'passkey-delete-all',
  text: `delete from passkeys where person_id = $1 returning id`,
};
/** Returns how many there were. */
export const deletePasskeys = async (tx: Queryable, personId: string): Promise<number> =>
  (await tx.query(deleteAllStatement, [personId])).length;

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

import type { Queryable } from './database.ts';

/** Under this name stands what a restore keeps closed. */
export const gateName = 'restore_gate';

const putStatement = {
  name: 'deployment-put',
  text: `insert into deployment (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
};
export const putDeploymentValue = async (db: Queryable, name: string, value: string): Promise<void> => {
  await db.query(putStatement, [name, value]);
};

const readStatement = { name: 'deployment-read', text: `select value from deployment where name = $1` };
export const readDeploymentValue = async (db: Queryable, name: string): Promise<string | null> =>
  (await db.query<{ value: string }>(readStatement, [name]))[0]?.value ?? null;

const claimStatement = {
  name: 'deployment-claim',
  text: `insert into deployment as d (name, value) values ($1, $2)
    on conflict (name) do update set value = d.value returning value`,
};
/** Stores the value if the name is new. Returns the stored value. */
export const claimDeploymentValue = async (db: Queryable, name: string, value: string): Promise<string> =>
  (await db.query<{ value: string }>(claimStatement, [name, value]))[0]!.value;

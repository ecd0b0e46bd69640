import type { Queryable } from './database.ts';

const claimStatement = {
  name: 'deployment-claim',
  text: `insert into deployment as d (name, value) values ($1, $2)
    on conflict (name) do update set value = d.value returning value`,
};
/** Writes the value if the name is new and returns the value in force. */
export const claimDeploymentValue = async (db: Queryable, name: string, value: string): Promise<string> =>
  (await db.query<{ value: string }>(claimStatement, [name, value]))[0]!.value;

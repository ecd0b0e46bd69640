import { inject } from 'vitest';
import { openTestDatabase } from './databases.ts';

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** Takes a database away from everybody until restored: no new connections, and the present ones ended. */
export const cutDatabase = async (url: string): Promise<{ restore(): Promise<void> }> => {
  const name = nameOf(url);
  const admin = openTestDatabase(inject('adminUrl'));
  await admin.script(`alter database ${name} allow_connections false`);
  await admin.query(
    {
      name: 'test-terminate',
      text: 'select pg_terminate_backend(pid)::text as ended from pg_stat_activity where datname = $1',
    },
    [name],
  );
  return {
    async restore() {
      await admin.script(`alter database ${name} allow_connections true`);
      await admin.close();
    },
  };
};

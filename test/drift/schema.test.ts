import { expect, test } from 'vitest';
import { dumpSchema } from '../../src/storage/schemaDump.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

/** Servers of other versions spell some definitions differently; the file is the embedded server's. */
const isEmbedded = process.env.TEST_DATABASE_URL === undefined;

test.runIf(isEmbedded)('src/storage/schema.txt is the schema that the migrations make', async () => {
  const clone = await cloneDatabase();
  const db = openTestDatabase(clone.url);
  try {
    const text = await dumpSchema(db);
    await expect(
      text,
      'the schema changed: run npm run generate and review src/storage/schema.txt',
    ).toMatchFileSnapshot('../../src/storage/schema.txt');
  } finally {
    await db.close();
    await clone.drop();
  }
});

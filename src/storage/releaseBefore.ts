/**
 * The release that may run beside this one on a database, while processes are replaced one by one. `npm run upgrade-drill`
 * checks it out.
 */
export const releaseBefore = {
  revision: '0ed645822476e312f0112805fe899689307a0c9f',
  /** Its newest migration. Every later one says whether that release can live with it. */
  newestMigration: 37,
} as const;

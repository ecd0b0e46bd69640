/** Where the parts of a data directory are, in the directory and in the archive of a backup alike. */

/** The first file of each backup. In a data directory, it makes the next start declare the restore. */
export const restoredMark = 'restored-backup.json';
/** One of the last files of a backup. No data directory has it. */
export const backupEnd = 'backup-ended.json';
/** A restore that has not ended. No Florin starts beside it. */
export const unfinishedRestore = 'restoring';

export const clusterPath = 'postgres/cluster';
export const passwordsPath = 'postgres/passwords.json';
export const keyPath = 'keys/master';

/**
 * Read before the end of the backup: the database then knows every row and epoch that they name. Passwords do not change,
 * and rows-sealed is empty.
 */
export const earlyFiles = [
  passwordsPath,
  'instance',
  'rows-sealed',
  'derivation-epochs',
  'audit-heads.json',
  'person-revisions.json',
] as const;

/** Read after it: the local chain then has every block that the database knows. It is only ever appended to. */
export const lateFile = 'devchain.journal';

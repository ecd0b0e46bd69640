import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { GoLive } from '../../core/api/moneyApi.ts';
import { hasCode } from '../../core/errorCode.ts';
import { checkMailServer } from '../../mail/mailer.ts';
import { hasLivePayment } from '../../storage/access/goLive.ts';
import { checkServer, isConnectionExposed } from '../../storage/bootChecks.ts';
import { readKeyState } from '../../storage/keys/keyState.ts';
import { readStandbys } from '../../storage/standbys.ts';
import { judgeBackups, readBackupRecord } from '../backupRecord.ts';
import type { Told } from '../doctorChecks.ts';
import { judgeStandbys } from '../judgeStandbys.ts';
import { hashOfUrl, readShown } from './shownRecord.ts';
import { bad, good, judged, type Situation, withRecords } from './situation.ts';

/** The configuration admits an exposed connection only with FLORIN_DATABASE_TLS=optional. */
export const checkDatabase = withRecords(async ({ db }, { config }) => {
  const kind = config.database === null ? 'the embedded server' : 'your own server';
  const trust = (await isConnectionExposed(db)) ? 'NOT encrypted, as FLORIN_DATABASE_TLS allows' : 'not exposed';
  const standbys = config.database === null ? null : judgeStandbys(await readStandbys(db));
  const detail = `${kind}; writes survive a crash; the connection is ${trust}${standbys ? `; ${standbys.detail}` : ''}`;
  const problems = [...(await checkServer(db)), ...(standbys === null || standbys.ok ? [] : [standbys.detail])];
  return judged(problems, detail, 'Then restart Florin.');
});

/** Florin cannot see where copies are. It knows that one was brought back once, and whether the key has changed since. */
export const checkMasterKey = withRecords(async ({ db }, { config }) => {
  const { masterKeyCopy } = await readShown(config);
  const next = 'Copy the key to a safe place, and run florin master-key compare FILE with the copy.';
  if (masterKeyCopy === null) return bad(`No copy was compared with it. ${next}`);
  const { inForce } = await readKeyState(db);
  if (masterKeyCopy.fingerprint !== inForce) return bad(`The key was replaced since a copy was compared. ${next}`);
  return good(`a copy was compared at ${masterKeyCopy.at}`);
});

const isThere = async (path: string, bytes: number): Promise<boolean> => {
  try {
    return (await stat(path)).size === bytes;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return false;
    throw error;
  }
};

const schedule = 'Set FLORIN_BACKUP_DIR and FLORIN_BACKUP_RECIPIENT and restart Florin.';

/** A backup is verified where its identity is, which is not here. */
export const checkBackups = async ({ config, nowMs }: Situation): Promise<Told> => {
  if (config.database !== null) {
    return bad(
      'Florin cannot see the backups of your own server. Follow "Your own server" in docs/backups.md, then accept this line with --accept backups.',
    );
  }
  const { backups } = config;
  if (backups === null) return bad(`Not scheduled. ${schedule}`);
  const record = await readBackupRecord(config);
  const { last } = record;
  if (record.schedule === null) return bad(`The running server does not have the schedule. ${schedule}`);
  if (last === null) return bad(`There is none yet: ${judgeBackups(record, nowMs).detail}. Look again in a minute.`);
  const { ok, detail } = judgeBackups(record, nowMs);
  if (!ok) return bad(`Too old: ${detail}. Look at the log.`);
  if (!(await isThere(resolve(backups.directory, last.file), last.bytes)))
    return bad(`${last.file} is not there as it was written. Find out who removed it.`);
  return good(`${detail}. Verify and drill them where their identity is`);
};

const maxTestAgeMs = 90 * 86_400_000;

export const checkAlerts = async ({ config, nowMs }: Situation): Promise<Told> => {
  const { alertUrl } = config;
  if (alertUrl === null) return bad('FLORIN_ALERT_URL is not set. Set it and restart Florin.');
  const { alert } = await readShown(config);
  if (alert?.urlHash !== hashOfUrl(alertUrl)) return bad('It has not accepted a test. Run florin alerts test.');
  if (nowMs - Date.parse(alert.at) > maxTestAgeMs)
    return bad(`The last test was accepted at ${alert.at}, which is long ago. Run florin alerts test again.`);
  return good(`a test was accepted at ${alert.at}`);
};

export const checkMail = async ({ config: { mail } }: Situation): Promise<Told> => {
  if (mail === null) return good('not set up, and optional');
  const failure = await checkMailServer(mail);
  return failure === null
    ? good('the mail server accepts us')
    : bad(`${failure.reason}. Correct FLORIN_SMTP_URL and restart Florin.`);
};

/** A step that the dashboard shows on its page Go live. */
export const checkStep = (key: GoLive['steps'][number]['key']) =>
  withRecords(({ goLive }) => {
    const step = goLive.steps.find(each => each.key === key)!;
    return step.done ? good('done') : bad(`${step.title}. ${step.help}`);
  });

export const checkPayment = withRecords(async ({ db, accountId }) =>
  (await hasLivePayment(db, accountId))
    ? good('completed')
    : bad('No live payment was completed. Create one of one unit and pay it from another wallet.'),
);

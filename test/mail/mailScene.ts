import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { eventually } from '../support/until.ts';
import { openRealLog } from './realLog.ts';
import { type SmtpReceiver, type SmtpSecurity, startSmtpReceiver } from './smtpReceiver.ts';

export const startReceiver = async (security?: SmtpSecurity): Promise<SmtpReceiver> => {
  const receiver = await startSmtpReceiver(security);
  atEndOfFile(receiver.close);
  return receiver;
};

export type MailScene = {
  readonly dashboard: TestDashboard;
  readonly receiver: SmtpReceiver;
  /** For another process. */
  readonly env: Record<string, string>;
  /** What Florin logged, each line as JSON with its `message`. */
  readonly lines: string[];
  /** The log as the operator would read it. */
  logText(): Promise<string>;
  /** Adds a line to it. */
  readonly log: Log;
  sql<T extends Record<string, unknown>>(text: string, ...values: unknown[]): Promise<T[]>;
  /** What was queued is sent or parked. */
  settled(): Promise<void>;
  /** The same, and then the server is as it was at the start. */
  reset(): Promise<void>;
};

/** A whole Florin that hands its mails to a server on loopback. */
export const startMailScene = async (): Promise<MailScene> => {
  const receiver = await startReceiver();
  const lines: string[] = [];
  const room = await mkdtemp(join(tmpdir(), 'florin-mail-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  const real = openRealLog(join(room, 'florin.log'));
  const to =
    (level: 'debug' | 'info' | 'warn' | 'error'): Log['warn'] =>
    (fields, message) => {
      lines.push(JSON.stringify({ ...fields, message }));
      real.log[level](fields, message);
    };
  const log: Log = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
  const env = {
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    FLORIN_MAIL_FROM: 'Florin <florin@shop.example>',
  };
  const dashboard = await startDashboard({
    env: { ...env, FLORIN_ROLES: 'api,watch,deliver' },
    log,
  });
  const sql: MailScene['sql'] = (text, ...values) => dashboard.scene.admin.db.query({ name: '', text }, values);
  const settled = async (): Promise<void> => {
    await eventually(async () => expect(await sql('select id from outbox where parked_at is null')).toEqual([]));
  };
  return {
    dashboard,
    receiver,
    env,
    lines,
    log,
    logText: real.text,
    sql,
    settled,
    async reset() {
      await settled();
      receiver.kept.length = 0;
      receiver.mood = () => 'accept';
    },
  };
};

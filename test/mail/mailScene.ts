import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { eventually } from '../support/until.ts';
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
  const write: Log['warn'] = (fields, message) => void lines.push(JSON.stringify({ ...fields, message }));
  const env = {
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
    FLORIN_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    FLORIN_MAIL_FROM: 'Florin <florin@shop.example>',
  };
  const dashboard = await startDashboard({
    env: { ...env, FLORIN_ROLES: 'api,watch,deliver' },
    log: { debug: write, info: write, warn: write, error: write },
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
    sql,
    settled,
    async reset() {
      await settled();
      receiver.kept.length = 0;
      receiver.mood = () => 'accept';
    },
  };
};

import type { Environment, Scope } from '../../core/environment.ts';
import type { Plan } from '../../core/plans.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf } from '../seals.ts';

/** An account's settings for one environment. */
export type SettingsRow = Row & {
  accountName: string;
  plan: Plan;
  rateLimit: number | null;
  burst: number | null;
  toleranceBps: number;
  /** Null: by currency. */
  latePolicy: 'accept' | 'manual' | null;
  lateWindowSeconds: number;
  checkoutOrigins: string[];
  supportContact: string | null;
  brandName: string | null;
  brandAccent: string | null;
  brandLogo: Buffer | null;
  brandLogoName: string | null;
};

const columns = `a.name as "accountName", a.plan, a.rate_limit as "rateLimit", a.burst, s.tolerance_bps as "toleranceBps",
  s.late_policy as "latePolicy", s.late_window_seconds as "lateWindowSeconds", s.checkout_origins as "checkoutOrigins",
  s.support_contact as "supportContact", s.brand_name as "brandName", s.brand_accent as "brandAccent",
  s.brand_logo as "brandLogo", s.brand_logo_name as "brandLogoName",
  ${sealsOf({ s: 'account_settings', a: 'accounts' })}`;
const ofScope = `from account_settings s join accounts a on a.id = s.account_id
  where s.account_id = $1 and s.environment = $2`;

const readStatement = { name: 'settings-read', text: `select ${columns} ${ofScope}` };
const lockStatement = { name: 'settings-lock', text: `select ${columns} ${ofScope} for update of s` };

export const readSettings = async (db: Queryable, scope: Scope): Promise<SettingsRow | null> =>
  (await db.query<SettingsRow>(readStatement, [scope.accountId, scope.environment]))[0] ?? null;
export const lockSettings = async (tx: Queryable, scope: Scope): Promise<SettingsRow | null> =>
  (await tx.query<SettingsRow>(lockStatement, [scope.accountId, scope.environment]))[0] ?? null;

const updateStatement = {
  name: 'settings-update',
  text: sealedUpdate('account_settings', {
    set: {
      tolerance_bps: '$3',
      late_policy: '$4',
      late_window_seconds: '$5',
      checkout_origins: '$6',
      support_contact: '$7',
      brand_name: '$8',
      brand_accent: '$9',
      brand_logo: '$10',
      brand_logo_name: '$11',
    },
    where: 't.account_id = $1 and t.environment = $2',
  }),
};
export const updateSettings = async (tx: Queryable, scope: Scope, row: SettingsRow): Promise<void> => {
  await tx.query(updateStatement, [
    scope.accountId,
    scope.environment,
    row.toleranceBps,
    row.latePolicy,
    row.lateWindowSeconds,
    row.checkoutOrigins,
    row.supportContact,
    row.brandName,
    row.brandAccent,
    row.brandLogo,
    row.brandLogoName,
  ]);
};

const renameStatement = {
  name: 'account-rename',
  text: sealedUpdate('accounts', { set: { name: '$2' }, where: 't.id = $1' }),
};
export const renameAccount = async (tx: Queryable, accountId: string, name: string): Promise<void> => {
  await tx.query(renameStatement, [accountId, name]);
};

const logoStatement = {
  name: 'settings-logo',
  text: `select brand_logo as bytes from account_settings where brand_logo_name = $1 and environment = $2 limit 1`,
};
/** A logo by its file name, which is the hash of its bytes: any account's will do. The caller checks the hash. */
export const readLogo = async (db: Queryable, environment: Environment, name: string): Promise<Buffer | null> =>
  (await db.query<{ bytes: Buffer }>(logoStatement, [name, environment]))[0]?.bytes ?? null;

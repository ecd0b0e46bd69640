import type { Branding, Settings } from '../../core/api/setupApi.ts';
import type { Scope } from '../../core/environment.ts';
import { invalid } from '../../core/errors.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import { rateLimitOf } from '../../core/plans.ts';
import {
  lockSettings,
  readSettings,
  renameAccount,
  type SettingsRow,
  updateSettings,
} from '../../storage/access/settings.ts';
import type { Context } from '../context.ts';
import type { Work } from '../perform.ts';
import { noSuchAccount, readContact, readOrigins, revealCallbackSecret } from './accounts.ts';
import { brandColumns, brandingObject, readName } from './branding.ts';

export type SettingsChange = Partial<Omit<Settings, 'plan' | 'limits' | 'branding'>> & {
  branding?: Partial<Branding>;
};

const daySeconds = 86_400;
const maxWindowDays = 3_650;
/** Percentages have two decimals: basis points. */
const percentDigits = 2;
const maxToleranceBps = 500;

const settingsOf = (row: SettingsRow, scope: Scope): Settings => {
  const { perMinute, burst } = rateLimitOf(row, scope.environment);
  return {
    accountName: row.accountName,
    plan: row.plan,
    limits: { perMinute, burst },
    tolerancePercent: formatAmount(BigInt(row.toleranceBps), percentDigits),
    latePolicy: row.latePolicy,
    lateWindowDays: row.lateWindowSeconds / daySeconds,
    checkoutOrigins: row.checkoutOrigins,
    supportContact: row.supportContact,
    branding: brandingObject(row),
  };
};

export const showSettings = async (context: Context, scope: Scope): Promise<Settings> => {
  const row = await readSettings(context.db, scope);
  if (!row) throw noSuchAccount(scope.accountId);
  return settingsOf(row, scope);
};

const toleranceOf = (text: string): number => {
  const parsed = parseAmount(text, percentDigits);
  const bps = parsed.ok ? Number(parsed.units) : parsed.problem === 'zero' ? 0 : Number.NaN;
  if (bps >= 0 && bps <= maxToleranceBps) return bps;
  throw invalid('tolerancePercent', 'The tolerance must be a number from 0 to 5 with at most two decimals.');
};

const windowOf = (days: number): number => {
  if (Number.isInteger(days) && days >= 0 && days <= maxWindowDays) return days * daySeconds;
  throw invalid('lateWindowDays', `The window must be a whole number of days from 0 to ${maxWindowDays}.`);
};

const changed = (row: SettingsRow, change: SettingsChange): SettingsRow => ({
  ...row,
  ...(change.accountName !== undefined && { accountName: readName('accountName', change.accountName) }),
  ...(change.tolerancePercent !== undefined && { toleranceBps: toleranceOf(change.tolerancePercent) }),
  ...(change.latePolicy !== undefined && { latePolicy: change.latePolicy }),
  ...(change.lateWindowDays !== undefined && { lateWindowSeconds: windowOf(change.lateWindowDays) }),
  ...(change.checkoutOrigins !== undefined && {
    checkoutOrigins: readOrigins(change.checkoutOrigins),
  }),
  ...(change.supportContact !== undefined && {
    supportContact: change.supportContact === null ? null : readContact(change.supportContact),
  }),
  ...(change.branding && brandColumns(change.branding)),
});

/** The settings as the audit log shows them. A logo is shown by its name, which is a hash of its bytes. */
const auditedSettings = (row: SettingsRow, scope: Scope): Record<string, unknown> => {
  const { branding, plan: _plan, limits: _limits, ...settings } = settingsOf(row, scope);
  const { displayName, accentColor } = branding;
  return { ...settings, displayName, accentColor, logo: row.brandLogoName };
};

const differences = (before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(after)
      .filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map(name => [name, { before: before[name], after: after[name] }]),
  );

/** Applies all given settings, or none if one is refused. Existing payments keep their terms. */
export const changeSettings =
  (change: SettingsChange): Work<Settings> =>
  async (tx, { scope }) => {
    const before = await lockSettings(tx, scope);
    if (!before) throw noSuchAccount(scope.accountId);
    const after = changed(before, change);
    const detail = differences(auditedSettings(before, scope), auditedSettings(after, scope));
    const isChanged = Object.keys(detail).length > 0;
    if (isChanged && after.accountName !== before.accountName) {
      await renameAccount(tx, scope.accountId, after.accountName);
    }
    if (isChanged) await updateSettings(tx, scope, after);
    const deed = isChanged ? ({ action: 'settings.changed', subject: null, detail } as const) : null;
    return { value: settingsOf(after, scope), deed };
  };

/** Its audit row is written before the secret is shown. */
export const revealCallbacks =
  (context: Pick<Context, 'vault'>): Work<string> =>
  async (tx, { scope }) => {
    const secret = await revealCallbackSecret({ ...context, db: tx }, scope);
    return { value: secret, deed: { action: 'secret.revealed', subject: 'callbackUrl', detail: {} } };
  };

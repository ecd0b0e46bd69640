import type { Environment } from '../../core/environment.ts';
import { type KeyedTable, keyedColumns } from '../../storage/keys/remadeRows.ts';
import { totpContext } from '../access/totpContext.ts';
import { callbackSecretContext, endpointSecretContext } from '../webhooks/webhookSecrets.ts';
import { forged, type Remaking, resealed } from './remaking.ts';

/** A row as its seal covers it: bytes are text like `\x00ff`, and nulls are left out. */
type Json = Readonly<Record<string, unknown>>;
type Columns = Readonly<Record<string, unknown>>;
type Remade = Columns | typeof forged;

const bytesOf = (value: unknown): Buffer => Buffer.from(String(value).slice(2), 'hex');
const jsonOf = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;

const resealedJson = (
  remaking: Remaking,
  value: unknown,
  context: readonly string[],
): string | null | typeof forged => {
  if (value === undefined || value === null) return null;
  const bytes = resealed(remaking, bytesOf(value), context);
  return bytes === forged ? forged : jsonOf(bytes);
};

const unlessForged = (columns: Columns): Remade => (Object.values(columns).flat().includes(forged) ? forged : columns);

const walletColumns = ({ former, next }: Remaking, row: Json): Remade => {
  const fields = {
    accountId: String(row.account_id),
    environment: row.environment as Environment,
    network: String(row.network),
    kind: String(row.kind),
    destination: String(row.destination),
  };
  const takesEffectAtMs = row.takes_effect_at === undefined ? null : Date.parse(String(row.takes_effect_at));
  const version = { ...fields, version: Number(row.version), takesEffectAtMs };
  const mac = bytesOf(row.mac);
  // The seal of the row covers the version and time of older wallets, too, so they get the newer MAC.
  if (row.seal === 1) {
    const isRight = takesEffectAtMs === null && former.verifyWalletMac(fields, mac);
    return isRight ? { mac: jsonOf(next.walletVersionMac(version)), seal: 2 } : forged;
  }
  if (next.verifyWalletVersionMac(version, mac)) return { mac: row.mac, seal: 2 };
  return former.verifyWalletVersionMac(version, mac)
    ? { mac: jsonOf(next.walletVersionMac(version)), seal: 2 }
    : forged;
};

const remakers: Readonly<Record<KeyedTable, (remaking: Remaking, row: Json) => Remade>> = {
  account_settings: (remaking, row) =>
    unlessForged({
      callback_secret: resealedJson(
        remaking,
        row.callback_secret,
        callbackSecretContext(String(row.account_id), row.environment as Environment),
      ),
    }),
  people(remaking, row) {
    const context = totpContext({ firstAccountId: String(row.first_account_id), id: String(row.id) });
    // Recovery codes cannot be made anew: only a hash of each is stored.
    const codes = (hashes: unknown): string[] | null => {
      const kept = ((hashes ?? []) as string[]).filter(each => remaking.next.isRecoveryHash(bytesOf(each)));
      return kept.length === 0 ? null : kept;
    };
    const totp = resealedJson(remaking, row.totp_secret, context);
    // That they are the same must stay visible: a code that was used works for neither.
    const isSame = row.earlier_totp_secret === row.totp_secret;
    return unlessForged({
      totp_secret: totp,
      totp_pending: resealedJson(remaking, row.totp_pending, context),
      recovery_hashes: codes(row.recovery_hashes),
      earlier_totp_secret: isSame ? totp : resealedJson(remaking, row.earlier_totp_secret, context),
      earlier_recovery_hashes: codes(row.earlier_recovery_hashes),
    });
  },
  webhook_endpoints(remaking, row) {
    const scope = { accountId: String(row.account_id), environment: row.environment as Environment };
    const context = endpointSecretContext(scope, String(row.id));
    return unlessForged({
      secret: resealedJson(remaking, row.secret, context),
      previous_secrets: (row.previous_secrets as string[]).map(each => resealedJson(remaking, each, context)),
    });
  },
  wallets: walletColumns,
};

/** The keyed columns of a genuine row under the next key. */
export const remadeColumns = (remaking: Remaking, table: KeyedTable, row: Json): Remade =>
  remakers[table](remaking, row);

/** Whether the columns are what the row has already. */
export const isRemade = (table: KeyedTable, row: Json, columns: Columns): boolean =>
  keyedColumns[table].every(name => JSON.stringify(row[name] ?? null) === JSON.stringify(columns[name] ?? null));

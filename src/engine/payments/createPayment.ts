import { xpubIdentity } from '../../chains/evm/xpubIdentity.ts';
import type { PaymentRequest as Requested } from '../../core/api/payment.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { formatAmount, parseAmount } from '../../core/money.ts';
import { type Currency, findCurrency, type Network } from '../../core/registry/networks.ts';
import type { TraceContext } from '../../core/traceContext.ts';
import { refuseUrlText } from '../../core/url.ts';
import type { PaymentTerms } from '../../storage/access/accounts.ts';
import { isUniqueViolation } from '../../storage/database.ts';
import type { InsertedPayment, UnsealedPayment } from '../../storage/payments/insertPayments.ts';
import { findByExternalId, type StoredTier } from '../../storage/payments/payments.ts';
import type { WalletRow } from '../../storage/wallets/wallets.ts';
import { watchedNetwork } from '../chain/networkDirectory.ts';
import type { Context } from '../context.ts';
import { type Answer, type IdempotentRequest, inProgress, keepRefusal, replay } from '../idempotency.ts';
import { requireFactory } from '../wallets/requireFactory.ts';
import { isSealed } from '../wallets/walletSeal.ts';
import { waitsForOperator } from './derivationIndexes.ts';
import { createInsert } from './insertBatch.ts';
import { deriveAddress } from './paymentAddress.ts';
import { noConfirmations, paymentObject, printPayment, renderEvent } from './paymentObject.ts';

/** The request of the API, with the source text of its metadata and its trace. */
export type PaymentRequest = Omit<Requested, 'metadata'> & { metadata: string; trace: TraceContext | null };

export type CreatePayment = (
  caller: PaymentTerms,
  request: PaymentRequest,
  idempotency: IdempotentRequest | null,
) => Promise<Answer>;

const defaultExpirySeconds = 3_600;

const amountOf = (text: string, currency: Currency): bigint => {
  const parsed = parseAmount(text, currency.decimals);
  if (!parsed.ok) {
    const why = {
      format: 'amount must be a positive number written as a plain decimal, for example "12.50".',
      zero: 'amount must be a positive number.',
      precision: `amount has too many fractional digits: ${currency.symbol} has ${currency.decimals}.`,
      too_large: 'amount is too large. It must be at most 10^30.',
    }[parsed.problem];
    throw invalid('amount', why);
  }
  if (parsed.units < currency.minAmount) {
    const minimum = formatAmount(currency.minAmount, currency.decimals);
    throw invalid('amount', `amount is below the minimum of ${minimum} ${currency.symbol}.`);
  }
  return parsed.units;
};

/** Rows that matched their seals. A row is read for half a second's requests, and each would check it again. */
const checkedWallets = new WeakSet<WalletRow>();

const walletOf = (context: Context, caller: PaymentTerms, network: Network): WalletRow => {
  const wallet = caller.wallets.find(w => w.network === network.slug);
  if (!wallet) {
    throw new FlorinError(
      'wallet_required',
      `No wallet is set for ${network.slug} in ${caller.environment}. Set one with: florin wallets set --account ${caller.accountId} --environment ${caller.environment} --network ${network.slug} --treasury 0x…`,
    );
  }
  if (checkedWallets.has(wallet)) return wallet;
  const { accountId, environment } = caller;
  if (!isSealed(context.vault, { accountId, environment }, wallet)) {
    const { version } = wallet;
    context.log.error(
      { forged: 'wallets', accountId, environment, network: network.slug, version },
      'a wallet does not match its seal',
    );
    throw new Error('the wallet does not match its seal');
  }
  checkedWallets.add(wallet);
  return wallet;
};

const tiersOf = (network: Network, currency: Currency): StoredTier[] => [
  { atLeast: '0', kind: network.rule.kind, depth: network.rule.depth },
  ...network.tiers
    .filter(tier => tier.currency === currency.symbol)
    .map(tier => ({ atLeast: tier.from.toString(), kind: tier.rule.kind, depth: tier.rule.depth })),
];

/** By currency unless the merchant chose: a late payer of a coin whose price moves could pay only if it has fallen. */
const latePolicyOf = ({ latePolicy }: PaymentTerms, { contractAddress }: Currency): UnsealedPayment['latePolicy'] =>
  latePolicy ?? (contractAddress === null ? 'manual' : 'accept');

const checkUrls = (context: Context, request: PaymentRequest, environment: Environment): void => {
  const { callbackUrl, redirectUrl } = request;
  if (callbackUrl !== undefined) {
    const refused = context.refuseUrl(callbackUrl, environment);
    if (refused) throw invalid('callbackUrl', `callbackUrl ${refused}.`);
  }
  if (redirectUrl !== undefined) {
    const refused = refuseUrlText(redirectUrl, context.environments[environment].allowLoopback);
    if (refused) throw invalid('redirectUrl', `redirectUrl ${refused}.`);
  }
};

/** Validates the request, cheapest checks first. */
const termsOf = async (
  context: Context,
  caller: PaymentTerms,
  request: PaymentRequest,
): Promise<{ network: Network; currency: Currency; amount: bigint; wallet: WalletRow; headNumber: string | null }> => {
  const { environment } = caller;
  checkUrls(context, request, environment);
  const configured = context.networks.configured(environment, request.network);
  const currency = configured && findCurrency(configured, request.currency);
  if (configured && !currency) {
    const symbols = configured.currencies.map(c => c.symbol).join(', ');
    throw invalid('currency', `${configured.slug} does not support this currency. It supports ${symbols}.`);
  }
  const amount = currency ? amountOf(request.amount, currency) : 0n;
  if (configured && environment === 'production' && (await context.restoreState()).gate === 'production') {
    throw waitsForOperator('live payments');
  }
  // Throws if the network is not configured, so there is a currency from here on.
  const { network, headNumber } = await watchedNetwork(
    context.networks,
    environment,
    request.network,
    currency?.symbol,
  );
  const wallet = walletOf(context, caller, network);
  if (wallet.kind === 'forwarder') await requireFactory(context.networks, network);
  return { network, currency: currency!, amount, wallet, headNumber: wallet.kind === 'xpub' ? headNumber : null };
};

const nextAddress = async (
  context: Context,
  scope: Scope,
  wallet: WalletRow,
): Promise<{ derivationIndex: bigint; address: string }> => {
  const { kind: walletKind, destination: treasury } = wallet;
  const series =
    walletKind === 'forwarder' ? `${scope.accountId}/${scope.environment}` : `xpub/${xpubIdentity(treasury)}`;
  const derivationIndex = await context.derivationIndexes.next(series, walletKind);
  return {
    derivationIndex,
    address: deriveAddress(context.vault, { scope, walletKind, treasury, index: derivationIndex }),
  };
};

const createdEvent = (context: Context, environment: Environment, atMs: number, data: string) => {
  const { id } = context.ids.next('event', atMs);
  const previous = { status: null, exception: null };
  const eventBody = renderEvent({ id, type: 'payment.created', atMs, environment, sequence: 1, data, previous });
  return { eventId: id, eventBody };
};

/** Builds the row to insert and the payment object to return. */
const build = async (
  context: Context,
  caller: PaymentTerms,
  request: PaymentRequest,
  idempotency: IdempotentRequest | null,
): Promise<{ row: UnsealedPayment; body: string }> => {
  const { accountId, environment } = caller;
  const scope: Scope = { accountId, environment };
  const { network, currency, amount, wallet, headNumber } = await termsOf(context, caller, request);
  const { derivationIndex, address } = await nextAddress(context, scope, wallet);
  const { id, ms: createdAtMs } = context.ids.next('payment', context.clock.nowMs());
  const { symbol, decimals, contractAddress: contract } = currency;
  const tiers = tiersOf(network, currency);
  const common = {
    environment,
    id,
    amount,
    decimals,
    currency: symbol,
    network: network.slug,
    caip2: network.caip2,
    contract,
    address,
    description: request.description ?? null,
    metadata: request.metadata,
    callbackUrl: request.callbackUrl ?? null,
    redirectUrl: request.redirectUrl ?? null,
    externalId: request.externalId ?? null,
    createdAtMs,
    expiresAtMs: createdAtMs + (request.expiresIn ?? defaultExpirySeconds) * 1000,
  };
  const state = { status: 'pending', exception: null, amountReceived: 0n, amountConfirmed: 0n } as const;
  const funds = { confirmations: noConfirmations(amount, tiers), transactions: [], strays: [] };
  const view = { ...common, ...state, ...funds, completedAtMs: null, canceledAtMs: null };
  const body = printPayment(paymentObject(view, context.environments[environment]));
  return {
    body,
    row: {
      ...common,
      accountId,
      walletKind: wallet.kind,
      treasury: wallet.destination,
      derivationIndex,
      tiers,
      toleranceBps: caller.toleranceBps,
      dustFloor: currency.dustFloor,
      latePolicy: latePolicyOf(caller, currency),
      lateWindowSeconds: caller.lateWindowSeconds,
      headNumber,
      ...createdEvent(context, environment, createdAtMs, body),
      trace: request.trace,
      idempotency: idempotency && { key: idempotency.key, bodyHash: idempotency.bodyHash, response: body },
    },
  };
};

const externalIdTaken = (existing: string): FlorinError =>
  new FlorinError('conflict', `externalId is already used by payment ${existing}.`, 'externalId');

/**
 * Wallets that scan an extended public key stop after twenty unused addresses. So a repeated request must not use up an
 * index: replays and refusals are checked first.
 */
const answerBeforeIndex = async (
  context: Context,
  caller: PaymentTerms,
  request: PaymentRequest,
  idempotency: IdempotentRequest | null,
): Promise<Answer | null> => {
  if (!caller.wallets.some(wallet => wallet.network === request.network && wallet.kind === 'xpub')) return null;
  const kept = idempotency && (await replay(context, context.db, caller, idempotency));
  if (kept || request.externalId === undefined) return kept;
  const existing = await findByExternalId(context.db, caller, request.externalId);
  if (existing !== null) throw externalIdTaken(existing);
  return null;
};

/** Retries if the derived address belongs to another payment, which happens if two accounts use the same key. */
const addressTries = 5;

export const createPaymentCreator = (context: Context): CreatePayment => {
  const insert = createInsert(context);
  const write = async (
    caller: PaymentTerms,
    request: PaymentRequest,
    idempotency: IdempotentRequest | null,
  ): Promise<{ outcome: InsertedPayment; body: string }> => {
    for (let tried = 1; ; tried++) {
      const { row, body } = await build(context, caller, request, idempotency);
      try {
        return { outcome: await insert(row), body };
      } catch (error) {
        if (isUniqueViolation(error, 'payments_external_id')) {
          throw externalIdTaken((await findByExternalId(context.db, caller, row.externalId!)) ?? 'unknown');
        }
        if (!isUniqueViolation(error, 'payments_address') || tried === addressTries) throw error;
      }
    }
  };

  const create: CreatePayment = async (caller, request, idempotency) => {
    const early = await answerBeforeIndex(context, caller, request, idempotency);
    if (early) return early;
    const { outcome, body } = await write(caller, request, idempotency);
    if (outcome.kind === 'written') return { status: 200, body, replayed: false };
    if (outcome.kind === 'external_id_taken') throw externalIdTaken(outcome.existing);
    const kept = await replay(context, context.db, caller, idempotency!);
    if (kept) return kept;
    throw inProgress();
  };

  const running = new Set<string>();
  return async (caller, request, idempotency) => {
    if (!idempotency) return create(caller, request, null);
    const tag = `${caller.accountId} ${caller.environment} ${idempotency.key}`;
    if (running.has(tag)) throw inProgress();
    running.add(tag);
    try {
      return await create(caller, request, idempotency);
    } catch (error) {
      if (!(error instanceof FlorinError) || error.code === 'idempotency_mismatch') throw error;
      // An earlier success is replayed even if the request would fail now, for example because the network is down or
      // the wallet was removed.
      const kept = await replay(context, context.db, caller, idempotency);
      if (kept) return kept;
      if (error.status === 409 && error.code !== 'idempotency_in_progress') {
        return keepRefusal(context, caller, idempotency, error);
      }
      throw error;
    } finally {
      running.delete(tag);
    }
  };
};

import type { MoneyApi, StrayMoney, TimelineEntry } from '../../core/api/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { isId } from '../../core/ids.ts';
import { formatAmount } from '../../core/money.ts';
import { confirmationsOf } from '../../core/payment/finality.ts';
import { cancelRefusal, resolveRefusal } from '../../core/payment/refusals.ts';
import { readPayments, type ShownPayment } from '../../storage/payments/payments.ts';
import { readTimeline, type TimelineFacts } from '../../storage/payments/timeline.ts';
import type { Context } from '../context.ts';
import { isGenuineEvent } from '../webhooks/eventSeal.ts';
import { assertGenuineTransfers } from './fundsSeal.ts';
import { type Funds, factsOf, fundsOf } from './paymentFacts.ts';
import { withMetadata } from './paymentObject.ts';
import { noSuchPayment, readShownRow } from './readPayment.ts';

const eventTitles: Readonly<Record<string, string>> = {
  'payment.created': 'The payment was created.',
  'payment.detected': 'The first funds arrived.',
  'payment.underpaid': 'The payment is underpaid.',
  'payment.confirming': 'The payment is paid and waits for confirmations.',
  'payment.completed': 'The payment was completed.',
  'payment.overpaid': 'The payment is overpaid.',
  'payment.expired': 'The payment expired.',
  'payment.late': 'Funds arrived late.',
  'payment.canceled': 'The payment was canceled.',
  'payment.reverted': 'A chain reorganization removed the funds.',
  'payment.reversed': 'A chain reorganization reversed the payment.',
  'payment.stray': 'Another token, or money on another network, arrived. It does not count.',
};

const actionTitles: Readonly<Record<string, string>> = {
  'payment.created': 'created the payment.',
  'payment.canceled': 'canceled the payment.',
  'payment.erased': 'erased the personal data of the payment.',
  'payment.resolved': 'accepted the amount received as full payment.',
  'payment.simulated': 'simulated a payer on the local chain.',
  'payment.transfer_verified': 'decided that a transfer is real, which Florin could not verify.',
};

type Entry = Omit<TimelineEntry, 'at'> & { readonly at: Date };
type Show = { readonly context: Context; readonly row: ShownPayment; readonly funds: Funds };

const linkOf = ({ context }: Show, caip2: string, txHash: string | null): TimelineEntry['refs'] => {
  const explorer = context.networks.explorerOf(caip2);
  return txHash === null ? {} : { txHash, explorerUrl: explorer === null ? null : `${explorer}/tx/${txHash}` };
};

const sumOf = ({ context, row }: Show, caip2: string, contract: string | null, amount: string): string => {
  if (caip2 === row.caip2 && contract === row.contract) {
    return `${formatAmount(BigInt(amount), row.decimals)} ${row.currency}`;
  }
  const token = context.networks.tokenOf(caip2, contract);
  if (!token) return `${amount} base units of ${contract ?? 'an unknown coin'}`;
  return `${formatAmount(BigInt(amount), token.decimals)} ${token.symbol}`;
};

const eventEntries = ({ events }: TimelineFacts): Entry[] =>
  events.map(({ id, type, status, exception, sequence, createdAt }) => ({
    at: createdAt,
    kind: type === 'payment.created' ? 'created' : 'state',
    title: eventTitles[type] ?? `${type}.`,
    refs: { eventId: id },
    detail: { type, status, exception, sequence },
  }));

const transferEntries = (show: Show, { transfers }: TimelineFacts): Entry[] =>
  transfers.map(transfer => {
    const { caip2, contract, txHash, sender, blockNumber, canonical } = transfer;
    const sum = sumOf(show, caip2, contract, transfer.amount);
    const confirmations = transfer.stray ? null : confirmationsOf({ number: blockNumber }, show.funds.heights);
    const arrived = canonical ? `${sum} arrived.` : `${sum} arrived, and a chain reorganization removed it.`;
    return {
      at: new Date(transfer.firstSeenMs),
      kind: transfer.stray ? 'stray' : 'transfer',
      title: transfer.stray ? `${arrived} It is not the token and network of this payment.` : arrived,
      refs: linkOf(show, caip2, txHash),
      detail: { amount: sum, from: sender, blockNumber, canonical, confirmations: canonical ? confirmations : null },
    };
  });

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'the endpoint';

const attemptEntries = ({ attempts }: TimelineFacts): Entry[] =>
  attempts.map(({ deliveryId, eventId, type, url, at, statusCode, error, durationMs }) => {
    const isDelivered = error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;
    const why = error ?? (statusCode === null ? 'no answer' : `status ${statusCode}`);
    return {
      at,
      kind: 'delivery',
      title: isDelivered
        ? `${type} was delivered to ${hostOf(url)}.`
        : `${type} could not be delivered to ${hostOf(url)}: ${why}.`,
      refs: { deliveryId, eventId },
      detail: { outcome: isDelivered ? 'succeeded' : 'failed', statusCode, error, durationMs },
    };
  });

const actionEntries = ({ actions }: TimelineFacts): Entry[] =>
  actions.map(({ at, action, actorName, detail }) => ({
    at,
    kind: 'action',
    title: `${actorName} ${actionTitles[action] ?? `did ${action}.`}`,
    refs: { actor: actorName },
    detail: { action, ...(JSON.parse(detail) as object) },
  }));

/** Funds that left the address, by any sender, and sweeps that are not on the chain yet. */
const sweepEntries = (show: Show, { forwards, sweeps }: TimelineFacts): Entry[] => {
  const seen = new Set(forwards.filter(({ canonical }) => canonical).map(({ txHash }) => txHash));
  const moved = forwards.map(({ txHash, contract, caip2, amount, canonical, at }): Entry => {
    const sum = sumOf(show, caip2, contract, amount);
    const by = sweeps.find(sweep => sweep.txHash === txHash)?.by;
    return {
      at,
      kind: 'sweep',
      title: canonical
        ? `${sum} was swept to the treasury.`
        : `${sum} was swept to the treasury, and a chain reorganization undid it.`,
      refs: { ...linkOf(show, caip2, txHash), ...(by ? { actor: by } : {}) },
      detail: { amount: sum, treasury: show.row.treasury, canonical },
    };
  });
  const waiting = sweeps.filter(({ txHash }) => !seen.has(txHash));
  return [
    ...moved,
    ...waiting.map(
      ({ id, txHash, at, by }): Entry => ({
        at,
        kind: 'sweep',
        title: 'A sweep was sent. It is not on the chain yet.',
        refs: { ...linkOf(show, show.row.caip2, txHash), ...(by ? { actor: by } : {}) },
        detail: { sweepId: id },
      }),
    ),
  ];
};

/** Several networks may share a chain: the payment's own is the one meant on its own chain. */
const networkName = ({ context, row }: Show, caip2: string): string => {
  const own = context.networks.configured(row.environment, row.network);
  return (own?.caip2 === caip2 ? own : context.networks.all().find(each => each.caip2 === caip2))?.name ?? caip2;
};

/** A name that says more than the symbol. */
const nameOf = ({ context }: Show, caip2: string, contract: string | null): string | null => {
  const token = context.networks.tokenOf(caip2, contract);
  return token === null || token.name === token.symbol ? null : token.name;
};

const straysOf = (show: Show): StrayMoney[] =>
  show.funds.transfers
    .filter(({ stray, canonical }) => stray && canonical)
    .map(({ caip2, contract, amount, txHash }) => ({
      amount: sumOf(show, caip2, contract, amount),
      network: networkName(show, caip2),
      isOtherNetwork: caip2 !== show.row.caip2,
      name: nameOf(show, caip2, contract),
      contract,
      txHash,
      explorerUrl: linkOf(show, caip2, txHash).explorerUrl ?? null,
    }));

/** By the rules that the acts themselves are refused by. */
const allowsOf = ({ row, funds }: Show): { cancel: boolean; resolve: boolean } => {
  const facts = factsOf(row, funds, null, 0);
  return { cancel: cancelRefusal(facts) === null, resolve: resolveRefusal(facts) === null };
};

/** A payment and its story, oldest first. The row is held against its seal as everywhere. */
export const readPaymentTimeline = async (
  context: Context,
  scope: Scope,
  id: string,
): Promise<MoneyApi['GET /payments/:id']['answer']> => {
  const [row] = isId('payment', id) ? await readPayments(context.listDb, [{ scope, id }]) : [];
  if (!row) throw noSuchPayment();
  const payment = withMetadata(readShownRow(context, row));
  const read = await readTimeline(context.listDb, scope, id);
  assertGenuineTransfers(context, row, read.transfers);
  const events = read.events.filter(event => isGenuineEvent(context, event));
  const genuine = new Set(events.map(event => event.id));
  const facts = { ...read, events, attempts: read.attempts.filter(({ eventId }) => genuine.has(eventId)) };
  const show: Show = { context, row, funds: fundsOf(context, row) };
  const entries = [
    ...eventEntries(facts),
    ...transferEntries(show, facts),
    ...sweepEntries(show, facts),
    ...attemptEntries(facts),
    ...actionEntries(facts),
  ];
  // The sort is stable: of entries at the same time, the creation comes first, and a cause before its effect.
  const timeline = entries.sort((a, b) => a.at.getTime() - b.at.getTime());
  return {
    payment,
    treasury: row.walletKind === 'forwarder' ? row.treasury : null,
    isSwept: BigInt(row.amountForwarded) > 0n,
    allows: allowsOf(show),
    strays: straysOf(show),
    timeline: timeline.map(entry => ({ ...entry, at: entry.at.toISOString() })),
    isCut: facts.isCut,
  };
};

import type { Environment } from '../../core/environment.ts';
import { devBacking, mainnets } from '../../core/registry/backings.ts';
import { devChainId } from '../../core/registry/networks.ts';
import { baseUrl, type DocsPlace } from './docsPlace.ts';
import { isNullable, type Schema } from './docsSchema.ts';

export const exampleIds = {
  payment: 'pay_01kf0fv2e0t4w9c2xk7m5hq8bn',
  endpoint: 'we_01kf0fv2e0b7e3nmz5t8r2vdkq',
  event: 'evt_01kf0fv2e0h2q6yv8s4jx3pwfa',
  delivery: 'dlv_01kf0fv2e09c4e7a1b2d3f5068',
} as const;

const address = '0x52908400098527886E0F7030069857D2E4169EE7';
const payer = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const transactionHash = '0x4e3a3754410177e6937ef1f84bba68ea139e8d1a2258c5f85db9f1cd715a1bdd';
const devToken = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** The network behind the slug without any configuration. */
const backings = { production: mainnets.base, sandbox: devBacking('base', devChainId, () => devToken) } as const;
const latestBlocks: Readonly<Record<Environment, number>> = { production: 40817364, sandbox: 128 };

type Values = Readonly<Record<string, unknown>>;

/** Values by field name, so that examples look like one real payment. */
const valuesOf = (place: DocsPlace): Values => {
  const { name, caip2, chainId, tokens, rule, blockTimeSeconds, explorerUrl, nativeCurrency } =
    backings[place.environment];
  const token = tokens.find(({ symbol }) => symbol === 'USDC')!;
  return {
    address,
    amount: '25.00',
    amountConfirmed: '0.00',
    amountReceived: '0.00',
    attempts: 1,
    blockTimeSeconds,
    caip19: `${caip2}/erc20:${token.address}`,
    caip2,
    chainId,
    checkedAt: '2026-01-15T09:30:00.000Z',
    checkoutUrl: `${baseUrl(place)}/checkout/${exampleIds.payment}`,
    confirmationRule: rule.kind,
    confirmations: { current: 0, required: rule.depth, rule: rule.kind },
    confirmationsRequired: rule.depth,
    contractAddress: token.address,
    currency: 'USDC',
    decimals: token.decimals,
    delivered: true,
    durationMs: 48,
    endpointId: exampleIds.endpoint,
    environment: place.environment,
    eventId: exampleIds.event,
    events: ['*'],
    expiresAt: '2026-01-15T10:30:00.000Z',
    explorerUrl,
    from: '2026-01-15',
    hasMore: false,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Florin',
      'webhook-id': exampleIds.event,
      'webhook-timestamp': '1768469400',
      'webhook-signature': 'v1,+vXmjZNaLmUyAeVk3ukjuFDcsWd/VRxnZgS5QJXrRzA=',
    },
    id: exampleIds.endpoint,
    lagSeconds: 2,
    latestBlock: latestBlocks[place.environment],
    limit: 20,
    metadata: {},
    minAmount: '0.000001',
    name,
    nativeCurrency: nativeCurrency.symbol,
    network: 'base',
    parts: Object.fromEntries(
      ['database', 'stopping', 'queue', 'chains', 'restore'].map(part => [part, { status: 'ok' }]),
    ),
    paymentUri: `ethereum:${token.address}@${chainId}/transfer?address=${address}&uint256=25000000`,
    response: 'ok',
    scheduled: 42,
    sequence: 1,
    slug: 'base',
    statusCode: 200,
    strays: [],
    symbol: 'USDC',
    to: '2026-01-15T12:00:00Z',
    total: 1,
    transaction: transactionHash,
    transactions: [],
    type: 'payment.created',
    url: 'https://shop.example/webhooks/florin',
  };
};

/** Values by operation. A secret appears only in the response that creates it. */
const secret = 'whsec_dGhpcy1pcy1hbi1leGFtcGxlLXNlY3JldC0zMmJ5dGU=';
const delivered: Values = { status: 'succeeded', finishedAt: '2026-01-15T09:30:00.048Z' };
const parked: Values = { ...delivered, status: 'parked', endpointId: null, parkedReason: 'answered 410 (gone)' };
const valuesByOperation: Readonly<Record<string, Values>> = {
  listParkedDeliveries: parked,
  getDelivery: delivered,
  listEventDeliveries: delivered,
  listWebhookDeliveries: delivered,
  resendDelivery: { nextAttemptAt: '2026-01-15T09:42:07.000Z' },
  cancelPayment: { status: 'canceled', canceledAt: '2026-01-15T09:42:07.000Z' },
  createWebhook: { secret },
  rotateWebhookSecret: { secret },
};

/** Half of the amount arrived and is final. Accepting it completes the payment. */
const resolvedPayment = ({ environment }: DocsPlace): Values => {
  const { rule, explorerUrl } = backings[environment];
  const received = '12.50';
  const current = environment === 'production' ? 1_200 : 12;
  return {
    status: 'completed',
    exception: 'underpaid',
    amountReceived: received,
    amountConfirmed: received,
    confirmations: { current, required: rule.kind === 'depth' ? rule.depth : null, rule: rule.kind },
    transactions: [
      {
        hash: transactionHash,
        from: payer,
        amount: received,
        blockNumber: latestBlocks[environment] - current + 1,
        confirmations: current,
        status: 'confirmed',
        explorerUrl: explorerUrl === null ? null : `${explorerUrl}/tx/${transactionHash}`,
      },
    ],
    completedAt: '2026-01-15T09:42:07.000Z',
  };
};

/** Nullable fields without a value here are null. */
const exampleOf = (schema: Schema, values: Values, name = '', parent = ''): unknown => {
  const id = Object.values(exampleIds).find(each => schema.pattern?.startsWith(`^${each.split('_', 1)}_`));
  if (id !== undefined) return id;
  if (name === 'name' && parent === 'currencies') return 'USD Coin';
  if (Object.hasOwn(values, name)) return values[name];
  if (isNullable(schema)) return null;
  if (schema.anyOf) return exampleOf(schema.anyOf[0]!, values, name, parent);
  if (schema.const !== undefined) return schema.const;
  if (schema.examples) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items, values, '', name)];
  if (schema.properties) {
    return Object.fromEntries(
      Object.entries(schema.properties)
        .filter(([key]) => key !== 'secret' || Object.hasOwn(values, key))
        .map(([key, value]) => [key, exampleOf(value, values, key, name || parent)]),
    );
  }
  if (schema.format === 'date-time') return '2026-01-15T09:30:00.000Z';
  if (schema.format === 'uri') return 'https://shop.example/orders/6735';
  return schema.type === 'integer' || schema.type === 'number' ? 0 : schema.type === 'boolean' ? true : 'text';
};

/** An example response made from the schema. */
export const exampleAnswerOf = (operationId: string, schema: Schema, place: DocsPlace): unknown => {
  const own = operationId === 'resolvePayment' ? resolvedPayment(place) : valuesByOperation[operationId];
  return exampleOf(schema, { ...valuesOf(place), ...own });
};

/** The smallest valid body: the required fields, or else the first field. */
export const exampleBodyOf = (schema: Schema, place: DocsPlace): Record<string, unknown> => {
  const names = schema.required?.length ? schema.required : Object.keys(schema.properties ?? {}).slice(0, 1);
  return Object.fromEntries(names.map(name => [name, exampleOf(schema.properties![name]!, valuesOf(place), name)]));
};

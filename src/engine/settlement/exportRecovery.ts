import { forwarderFactory } from '../../chains/evm/forwarder.ts';
import type { Scope } from '../../core/environment.ts';
import type { Network } from '../../core/registry/networks.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import {
  forwarderPayments,
  type LostForwarder,
  lostForwarders,
  treasuriesEverSet,
} from '../../storage/settlement/recovery.ts';
import { type RecoveryEnvelope, sealLines } from '../../vault/recoveryEnvelope.ts';
import { type AdminContext, resolveAccount } from '../access/accounts.ts';
import type { Acting } from '../audit/acting.ts';
import { deriveAddress, hasValidTerms } from '../payments/paymentAddress.ts';
import { perform } from '../perform.ts';
import { isSealed } from '../wallets/walletSeal.ts';

const pageSize = 1_000;
/** Restores add thousands at a time, for every treasury. Those that received something are in the file beyond this. */
const mostUnfundedLost = 100_000;

/** What the factory needs to be deployed and called without Florin. */
export type FactoryFacts = {
  readonly codeHash: string;
  readonly creationCode: string;
  readonly deployment: { readonly to: string; readonly data: string };
  readonly deployer: {
    readonly address: string;
    readonly signer: string;
    readonly fundingWei: string;
    readonly rawTransaction: string;
  };
};

export type ExportedRecovery = {
  readonly envelope: RecoveryEnvelope;
  readonly payments: number;
  /** Addresses of payments that a restore lost. */
  readonly lostAddresses: number;
  /** What does not match its seal or its address. It is left out: its treasury may be a thief's. */
  readonly leftOut: readonly string[];
};

type Tally = { payments: number; lostAddresses: number; readonly leftOut: string[] };

type Request = {
  readonly passphrase: string;
  readonly factory: FactoryFacts;
  readonly networks: readonly Network[];
  /** How many addresses of lost payments to add that received nothing. */
  readonly unfundedLost?: number;
};

const chainIdOf = (caip2: string): number => Number(caip2.slice('eip155:'.length));

/** With the look-alikes: people send them by mistake, and a forwarder can move any token. */
const networkFacts = ({ slug, chainId, nativeCurrency, currencies, lookAlikes }: Network) => ({
  network: slug,
  chainId,
  nativeCurrency,
  tokens: [
    ...currencies.flatMap(({ symbol, contractAddress: contract, decimals }) =>
      contract === null ? [] : [{ symbol, contract, decimals }],
    ),
    ...lookAlikes.map(({ symbol, address: contract, decimals }) => ({ symbol, contract, decimals })),
  ],
});

const saltOf = ({ vault }: AdminContext, scope: Scope, derivationIndex: string): string =>
  `0x${Buffer.from(vault.salt(scope, BigInt(derivationIndex))).toString('hex')}`;

const paymentLine = (context: AdminContext, scope: Scope, row: PaymentRow): string => {
  const { id, network, caip2, currency, contract, decimals, treasury, address } = row;
  const salt = saltOf(context, scope, row.derivationIndex);
  const fields = { id, network, chainId: chainIdOf(caip2), currency, contract, decimals, treasury, salt, address };
  return `${JSON.stringify(fields)}\n`;
};

const paymentLines = async function* (context: AdminContext, scope: Scope, tally: Tally): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const rows = await forwarderPayments(context.db, scope, after, pageSize);
    if (rows.length === 0) return;
    after = rows.at(-1)!.id;
    // Where the money goes, and nothing else: a changed state must not keep a forwarder out of the file.
    const { true: authentic = [], false: tampered = [] } = Object.groupBy(
      rows,
      row => `${hasValidTerms(context, row)}`,
    );
    tally.leftOut.push(...tampered.map(({ id }) => id));
    tally.payments += authentic.length;
    yield authentic.map(row => paymentLine(context, scope, row)).join('');
  }
};

/** On which chains each treasury is the account's own, as it said itself. A lost payment does not say its chain. */
const chainsOfTreasuries = async (
  context: AdminContext,
  scope: Scope,
  networks: readonly Network[],
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const sealed = (await treasuriesEverSet(context.db, scope)).filter(row => isSealed(context.vault, scope, row));
  const chainIds = new Map(networks.map(({ slug, chainId }) => [slug as string, chainId]));
  const byTreasury = Map.groupBy(sealed, ({ destination }) => destination);
  return new Map(
    [...byTreasury].map(([treasury, rows]) => [
      treasury,
      [...new Set(rows.flatMap(({ network }) => chainIds.get(network) ?? []))],
    ]),
  );
};

/** A row has no seal, but its address follows from its treasury and index only if all three are as Florin wrote them. */
const isDerived = ({ vault }: AdminContext, scope: Scope, row: LostForwarder): boolean => {
  const { treasury, derivationIndex, address } = row;
  try {
    return (
      deriveAddress(vault, { scope, walletKind: 'forwarder', treasury, index: BigInt(derivationIndex) }) === address
    );
  } catch {
    return false;
  }
};

const lostLines = async function* (
  context: AdminContext,
  scope: Scope,
  { networks, unfundedLost = mostUnfundedLost }: Request,
  tally: Tally,
): AsyncGenerator<string> {
  const chains = await chainsOfTreasuries(context, scope, networks);
  const lineOf = (row: LostForwarder): string => {
    const { treasury, derivationIndex, address } = row;
    const [salt, chainIds] = [saltOf(context, scope, derivationIndex), chains.get(treasury) ?? []];
    return `${JSON.stringify({ id: `lost:${address}`, chainIds, treasury, salt, address })}\n`;
  };
  for (const isFunded of [true, false]) {
    let [after, left] = ['', isFunded ? Number.POSITIVE_INFINITY : unfundedLost];
    while (left > 0) {
      const rows = await lostForwarders(context.db, scope, { isFunded, after, limit: Math.min(pageSize, left) });
      if (rows.length === 0) break;
      after = rows.at(-1)!.address;
      const { true: derived = [], false: tampered = [] } = Object.groupBy(
        rows,
        row => `${isDerived(context, scope, row)}`,
      );
      tally.leftOut.push(...tampered.map(({ address }) => `lost:${address}`));
      tally.lostAddresses += derived.length;
      left -= derived.length;
      yield derived.map(lineOf).join('');
    }
  }
};

/**
 * Everything that sweeps the account's forwarders without Florin, encrypted to a passphrase. It discloses the salts, so
 * the audit log has a row.
 */
export const exportRecovery = async (
  context: AdminContext,
  acting: Acting,
  request: Request,
): Promise<ExportedRecovery> => {
  const { scope } = acting;
  await resolveAccount(context, scope.accountId);
  const tally: Tally = { payments: 0, lostAddresses: 0, leftOut: [] };
  const networks = request.networks.filter(({ environment }) => environment === scope.environment);
  const header = {
    format: 'florin-recovery',
    version: 1,
    createdAt: new Date(context.clock.nowMs()).toISOString(),
    ...scope,
    factory: { address: forwarderFactory, ...request.factory },
    networks: networks.map(networkFacts),
  };
  const lines = async function* (): AsyncGenerator<string> {
    yield `${JSON.stringify(header)}\n`;
    yield* paymentLines(context, scope, tally);
    yield* lostLines(context, scope, { ...request, networks }, tally);
  };
  const envelope = await sealLines(request.passphrase, lines());
  const detail = { ...tally, leftOut: tally.leftOut.length };
  const deed = { action: 'recovery.exported', subject: null, detail } as const;
  await perform(context, acting, null, async () => ({ value: null, deed }));
  return { envelope, ...tally };
};

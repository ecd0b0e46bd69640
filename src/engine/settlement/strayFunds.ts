import type { Scope } from '../../core/environment.ts';
import type { Network } from '../../core/registry/networks.ts';
import { readStrayHoldings, type StrayHolding } from '../../storage/settlement/strayHoldings.ts';
import { listWallets } from '../../storage/wallets/wallets.ts';
import type { Context } from '../context.ts';
import { hasValidSeal } from '../payments/paymentAddress.ts';
import { knownTokens } from '../payments/tokenText.ts';
import { networkName } from '../wallets/contractTreasury.ts';
import { isSealed } from '../wallets/walletSeal.ts';
import type { SweepItem } from './sweepBatches.ts';

/** A listed token or look-alike at the forwarder of a payment that is in another token or on another chain. */
export type StrayItem = SweepItem & {
  readonly network: string;
  readonly currency: string;
  /** Why it must not be swept now, or null. */
  readonly refusal: string | null;
};

/** Strays that a page or a plan considers, the largest of each token first. */
const consideredStrays = 2_000;

const notOnThisNetwork = (slug: string): string =>
  `The treasury is not your payout address on ${networkName(slug)}. A contract, such as a Safe, may belong to somebody else there. Set it as the payout address on ${networkName(slug)} if it is yours.`;

/** The network on which the token is known. Many networks share the local chain, each with its own tokens. */
const networkOf = (networks: readonly Network[], { network, strayCaip2, strayContract }: StrayHolding) => {
  const knowing = networks.filter(
    each => each.caip2 === strayCaip2 && knownTokens(each).some(({ contract }) => contract === strayContract),
  );
  return knowing.find(({ slug }) => slug === network) ?? knowing[0];
};

/**
 * Strays of listed tokens and look-alikes that forwarders hold. On the payment's own chain they can be swept like its own money. On
 * another chain, only if the merchant has set the same treasury there: an address that is theirs on one chain need not
 * be theirs on another.
 */
export const readStrays = async (context: Context, scope: Scope): Promise<StrayItem[]> => {
  const found = await readStrayHoldings(context.listDb, scope, consideredStrays);
  const rows = found.filter(row => hasValidSeal(context, row));
  if (rows.length === 0) return [];
  const networks = context.networks.all().filter(({ environment }) => environment === scope.environment);
  const wallets = (await listWallets(context.listDb, scope)).filter(
    wallet => !wallet.pending && wallet.kind === 'forwarder' && isSealed(context.vault, scope, wallet),
  );
  return rows.flatMap(row => {
    const network = networkOf(networks, row);
    const token = network && knownTokens(network).find(({ contract }) => contract === row.strayContract);
    if (!network || !token) return [];
    const isSet = wallets.some(wallet => wallet.network === network.slug && wallet.destination === row.treasury);
    return [
      {
        row,
        caip2: row.strayCaip2,
        contract: row.strayContract,
        decimals: token.decimals,
        amount: BigInt(row.held),
        network: network.slug,
        currency: token.symbol,
        refusal: row.caip2 === row.strayCaip2 || isSet ? null : notOnThisNetwork(network.slug),
      },
    ];
  });
};

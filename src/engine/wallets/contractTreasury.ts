import { createHash } from 'node:crypto';
import type { Scope } from '../../core/environment.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { mainnets } from '../../core/registry/backings.ts';
import { isConfirmed, listWallets } from '../../storage/wallets/wallets.ts';
import type { Context } from '../context.ts';

type Place = { readonly network: string; readonly caip2: string; readonly treasury: string };

/** Why money must not be swept now. */
export type Refusal = {
  readonly reason: string;
  /** Whether it goes away when somebody who manages wallets confirms the treasury on this network. */
  readonly isConfirmable: boolean;
};

/** As the dashboard calls the network, in both environments. */
export const networkName = (slug: string): string =>
  (mainnets as Readonly<Record<string, { readonly name: string }>>)[slug]?.name ?? slug;

/** Code rarely changes, and open pages ask every few seconds. */
const keptCodeMs = 600_000;
const keptCodes = createRecentMap<{ readonly code: string; readonly untilMs: number }>(10_000);

/** An account that delegates to a contract (EIP-7702) is still controlled by its key, on every chain. */
const delegation = '0xef0100';

/** The code of a contract; empty for an account with a key; null if no node answers. */
export const contractCode = async (context: Context, caip2: string, address: string): Promise<string | null> => {
  const key = `${caip2} ${address}`;
  const kept = keptCodes.get(key);
  if (kept && context.clock.nowMs() < kept.untilMs) return kept.code;
  const found = await context.readCode(caip2, address);
  if (found === null) return null;
  const code = found === '0x' || found.startsWith(delegation) ? '' : found;
  keptCodes.set(key, { code, untilMs: context.clock.nowMs() + keptCodeMs });
  return code;
};

export const hashOfCode = (code: string): string => createHash('sha256').update(code.toLowerCase()).digest('hex');

const stays = (reason: string): Refusal => ({ reason, isConfirmable: false });

export const couldNotAsk = (slug: string): Refusal =>
  stays(`Florin could not ask a node of ${networkName(slug)} whether the treasury is a contract. Try again later.`);

const networksOf = (context: Context, { environment }: Scope) =>
  context.networks.all().filter(network => network.environment === environment);

/** What the treasury is on the other chains that have nodes, each under the name of one of its networks. */
const readElsewhere = async (context: Context, scope: Scope, { caip2, treasury }: Place) => {
  const others = networksOf(context, scope).filter(each => each.caip2 !== caip2 && each.rpcUrls.length > 0);
  const chains = new Map(others.map(each => [each.caip2, each.slug]));
  const found = await Promise.all(
    [...chains].map(async ([chain, slug]) => ({ slug, code: await contractCode(context, chain, treasury) })),
  );
  return { unasked: found.find(({ code }) => code === null), contracts: found.filter(({ code }) => code) };
};

/** Without code here: an account with a key, or a contract that is not deployed here and may be anybody's. */
const accountRefusal = async (context: Context, scope: Scope, place: Place): Promise<Refusal | null> => {
  const { unasked, contracts } = await readElsewhere(context, scope, place);
  const [elsewhere] = contracts;
  const here = networkName(place.network);
  if (elsewhere) {
    return stays(
      `The treasury is a contract on ${networkName(elsewhere.slug)} and not on ${here}, where it may belong to somebody else. Deploy it on ${here} first.`,
    );
  }
  return unasked ? couldNotAsk(unasked.slug) : null;
};

const isInForce = async (context: Context, scope: Scope, { network, treasury }: Place): Promise<boolean> =>
  (await listWallets(context.listDb, scope)).some(
    wallet => !wallet.pending && wallet.network === network && wallet.destination === treasury,
  );

/**
 * Why money must not be sent to a treasury on a chain, or null. An account with a key belongs to its owner everywhere.
 * A contract, such as a Safe, may not exist on another chain, or belong to somebody else there. So somebody who manages
 * wallets must confirm it on each network, with the code that it has: somebody else may have put other code there since. Code on other chains does not count against a payout address of this
 * network: anybody might put it there.
 */
export const contractRefusal = async (context: Context, scope: Scope, place: Place): Promise<Refusal | null> => {
  const { network, caip2, treasury } = place;
  const here = await contractCode(context, caip2, treasury);
  if (here === null) {
    // Only the process that runs the local chain has its URL. Nothing on that chain has a value.
    const isElsewhere = networksOf(context, scope).some(
      each => each.caip2 === caip2 && each.backing === 'devchain' && each.rpcUrls.length === 0,
    );
    return isElsewhere ? null : couldNotAsk(network);
  }
  if (here === '') return accountRefusal(context, scope, place);
  if (await isConfirmed(context.listDb, scope, { network, treasury, codeHash: hashOfCode(here) })) return null;
  const unconfirmed = {
    reason: `The treasury is a contract. An owner or admin must confirm that it is yours on ${networkName(network)}.`,
    isConfirmable: true,
  };
  if (await isInForce(context, scope, place)) return unconfirmed;
  const { unasked, contracts } = await readElsewhere(context, scope, place);
  if (unasked) return couldNotAsk(unasked.slug);
  const different = contracts.find(({ code }) => code !== here);
  if (!different) return unconfirmed;
  return {
    reason: `The treasury has different code on ${networkName(network)} and ${networkName(different.slug)}. Ask your operator to compare them.`,
    isConfirmable: true,
  };
};

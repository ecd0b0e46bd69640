import type { Scope } from '../../core/environment.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { networksWithVerified } from '../../storage/wallets.ts';
import type { Context } from '../context.ts';

type Place = { readonly network: string; readonly caip2: string; readonly treasury: string };

/** Code rarely changes, and open pages ask every few seconds. */
const keptCodeMs = 600_000;
const keptCodes = createRecentMap<{ readonly code: string; readonly untilMs: number }>(10_000);

/** An account that delegates to a contract (EIP-7702) is still controlled by its key, on every chain. */
const delegation = '0xef0100';

/** The code of a contract; empty for an account with a key; null if no node answers. */
const contractCode = async (context: Context, caip2: string, address: string): Promise<string | null> => {
  const key = `${caip2} ${address}`;
  const kept = keptCodes.get(key);
  if (kept && context.clock.nowMs() < kept.untilMs) return kept.code;
  const found = await context.readCode(caip2, address);
  if (found === null) return null;
  const code = found === '0x' || found.startsWith(delegation) ? '' : found;
  keptCodes.set(key, { code, untilMs: context.clock.nowMs() + keptCodeMs });
  return code;
};

/**
 * Why money must not be sent to a treasury on a chain, or null. An account with a key belongs to its owner everywhere.
 * A contract, such as a Safe, may not exist on another chain, or belong to somebody else there. So it needs the same
 * code wherever it exists, and somebody who manages wallets must have confirmed it on this network.
 */
export const contractRefusal = async (context: Context, scope: Scope, place: Place): Promise<string | null> => {
  const { network, caip2, treasury } = place;
  const networks = context.networks.all().filter(({ environment }) => environment === scope.environment);
  const chains = [...new Set([caip2, ...networks.map(each => each.caip2)])];
  const codes = await Promise.all(chains.map(chain => contractCode(context, chain, treasury)));
  const contracts = new Set(codes.filter(code => code !== null && code !== ''));
  if (contracts.size === 0) return null;
  const [here] = codes;
  if (here === null) return `The treasury is a contract. No node of ${network} answers whether it is there too.`;
  if (here === '' || contracts.size > 1) {
    return `The treasury is a contract on another network and not the same on ${network}, where it may belong to somebody else. Deploy it on ${network} first.`;
  }
  if ((await networksWithVerified(context.listDb, scope, treasury)).has(network)) return null;
  return `The treasury is a contract. Confirm on the Wallets page that it is yours on ${network}.`;
};

import { dueWalletEffects, insertWalletEffect, type WalletEffect } from '../../storage/wallets/walletEffects.ts';
import { systemActor } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import { perform, type Work } from '../perform.ts';

const effectBatch = 100;

const announceEffect =
  (effect: WalletEffect): Work<null> =>
  async tx => {
    const isFirst = await insertWalletEffect(tx, effect);
    const { network, kind, destination, version } = effect;
    const detail = { kind, destination, version };
    return { value: null, deed: isFirst ? { action: 'wallet.change_in_force', subject: network, detail } : null };
  };

/**
 * Announces changes of wallets that have taken effect, each once. A change takes effect by its time alone, so nobody acts
 * at that moment. Returns whether there may be more.
 */
export const announceEffects = async (context: Pick<Context, 'db' | 'clock' | 'ids' | 'vault'>): Promise<boolean> => {
  const due = await dueWalletEffects(context.db, effectBatch);
  for (const effect of due) {
    const { accountId, environment } = effect;
    const acting = { scope: { accountId, environment }, actor: systemActor, address: null };
    await perform(context, acting, null, announceEffect(effect));
  }
  return due.length === effectBatch;
};

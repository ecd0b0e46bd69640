import type { Context } from '../engine/context.ts';
import type { ConnectionSettings } from '../storage/database.ts';
import { listenForDeliveries } from '../storage/webhooks/deliveryNews.ts';
import type { Sender } from '../webhooks/send.ts';
import { startDeliverer } from '../workers/deliverer.ts';
import type { Loop } from '../workers/loop.ts';

/** Starts the deliverer. The database notifies it of new deliveries. */
export const startDelivering = (
  context: Context,
  parts: { sender: Sender; holder: string; service: ConnectionSettings },
): Loop => {
  const deliverer = startDeliverer(context, parts);
  const listening = listenForDeliveries(parts.service, {
    onNews: ({ target, isAskedFor }) => deliverer.notify(target, isAskedFor),
    onConnected: deliverer.pollSoon,
    log: context.log,
  });
  return {
    async stop() {
      await Promise.all([listening.stop(), deliverer.stop()]);
    },
  };
};

import type { Context } from '../engine/context.ts';
import type { ConnectionSettings } from '../storage/connect.ts';
import { listenForDeliveries } from '../storage/webhooks/deliveryNews.ts';
import { createSender, type Sender } from '../webhooks/send.ts';
import { startDeliverer } from '../workers/deliverer.ts';
import type { Loop } from '../workers/loop.ts';
import { startMailSender, startOutboxSender } from '../workers/outboxSender.ts';

/** Starts what sends: the deliverer, which the database notifies of new deliveries, and the outbox. */
export const startDelivering = (
  context: Context,
  parts: { sender: Sender; holder: string; service: ConnectionSettings; alertUrl: string | null },
): Loop => {
  const deliverer = startDeliverer(context, parts);
  const listening = listenForDeliveries(parts.service, {
    onNews: ({ target, isAskedFor }) => deliverer.notify(target, isAskedFor),
    onConnected: deliverer.pollSoon,
    log: context.log,
  });
  const alertSender = createSender({ ownListeners: () => [], reachesAnything: true });
  const alerts = { url: parts.alertUrl, sender: alertSender };
  const outbox = startOutboxSender(context, { sender: parts.sender, alerts });
  const mail = context.sendMail && startMailSender(context, context.sendMail);
  return {
    async stop() {
      await Promise.all([listening.stop(), deliverer.stop(), outbox.stop(), mail?.stop()]);
      await alertSender.close();
    },
  };
};

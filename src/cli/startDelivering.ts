import type { Environment } from '../core/environment.ts';
import type { Context } from '../engine/context.ts';
import type { ConnectionSettings } from '../storage/database.ts';
import { deliveriesChannel, type Target } from '../storage/deliveries.ts';
import { listen } from '../storage/listen.ts';
import type { Sender } from '../webhooks/send.ts';
import { startDeliverer } from '../workers/deliverer.ts';
import type { Loop } from '../workers/loop.ts';

const parseTarget = (payload: string): Target | null => {
  const [accountId, environment, target] = payload.split(' ');
  if (!accountId || !target) return null;
  return { accountId, environment: environment as Environment, target };
};

/** The deliverer, told by the database what is new. */
export const startDelivering = (
  context: Context,
  parts: { sender: Sender; holder: string; service: ConnectionSettings },
): Loop => {
  const deliverer = startDeliverer(context, parts);
  const listening = listen(parts.service, {
    channel: deliveriesChannel,
    onHeard: payload => {
      const target = parseTarget(payload);
      if (target) deliverer.hear(target);
    },
    onConnected: deliverer.lookAround,
    log: context.log,
  });
  return {
    async stop() {
      await Promise.all([listening.stop(), deliverer.stop()]);
    },
  };
};

import type { Environment } from '../core/environment.ts';
import type { Context } from '../engine/context.ts';
import type { ConnectionSettings } from '../storage/database.ts';
import { listen } from '../storage/listen.ts';
import { deliveriesChannel, type Target } from '../storage/webhooks/deliveries.ts';
import type { Sender } from '../webhooks/send.ts';
import { startDeliverer } from '../workers/deliverer.ts';
import type { Loop } from '../workers/loop.ts';

const parseNews = (payload: string): { target: Target; isAskedFor: boolean } | null => {
  const [accountId, environment, target, when] = payload.split(' ');
  if (!accountId || !target) return null;
  return { target: { accountId, environment: environment as Environment, target }, isAskedFor: when === 'now' };
};

/** Starts the deliverer. The database notifies it of new deliveries. */
export const startDelivering = (
  context: Context,
  parts: { sender: Sender; holder: string; service: ConnectionSettings },
): Loop => {
  const deliverer = startDeliverer(context, parts);
  const listening = listen(parts.service, {
    channel: deliveriesChannel,
    onNotification: payload => {
      const news = parseNews(payload);
      if (news) deliverer.notify(news.target, news.isAskedFor);
    },
    onConnected: deliverer.pollSoon,
    log: context.log,
  });
  return {
    async stop() {
      await Promise.all([listening.stop(), deliverer.stop()]);
    },
  };
};

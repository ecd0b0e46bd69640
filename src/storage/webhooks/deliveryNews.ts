import { type Environment, environments } from '../../core/environment.ts';
import type { Log } from '../../core/log.ts';
import type { ConnectionSettings } from '../connect.ts';
import { type Listening, listen } from '../listen.ts';
import type { Target } from './deliveries.ts';

/** The triggers of the table `deliveries` also write to this channel: account, environment and target. */
const channel = 'florin_deliveries';

/** A notification that somebody asked for deliveries to this target and waits. The parameters are SQL. */
export const askForDeliveries = (accountId: string, environment: string, target: string): string =>
  `pg_notify('${channel}', concat_ws(' ', ${accountId}, ${environment}, ${target}, 'now'))`;

export type DeliveryNews = { readonly target: Target; readonly isAskedFor: boolean };

/** Null for what Florin does not write: every role of the database may notify. */
export const parseDeliveryNews = (payload: string): DeliveryNews | null => {
  const [accountId, environment, target, when] = payload.split(' ');
  const isKnown = environments.some(each => each === environment);
  if (!accountId || !target || !isKnown) return null;
  return { target: { accountId, environment: environment as Environment, target }, isAskedFor: when === 'now' };
};

/** Listens for new deliveries. News are a hint only, as in `listen`. */
export const listenForDeliveries = (
  connection: ConnectionSettings,
  options: { onNews: (news: DeliveryNews) => void; onConnected: () => void; log: Log },
): Listening => {
  const { onNews, onConnected, log } = options;
  const onNotification = (payload: string): void => {
    const news = parseDeliveryNews(payload);
    if (news) onNews(news);
  };
  return listen(connection, { channel, onNotification, onConnected, log });
};

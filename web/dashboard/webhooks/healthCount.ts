import { countedDeliveries, type WebhookHealth } from '../../../src/core/webhookHealth.ts';

const format = new Intl.NumberFormat('en-US');

/** Counting stops at a limit. A "+" marks counts that may be higher. */
export const healthCount = (health: WebhookHealth, name: keyof WebhookHealth): string => {
  const { succeeded, waiting, retrying, parked } = health;
  const isCut =
    name === 'failedAttempts'
      ? Math.max(succeeded, waiting + retrying, parked) >= countedDeliveries
      : name === 'waiting' || name === 'retrying'
        ? waiting + retrying >= countedDeliveries
        : health[name] >= countedDeliveries;
  return `${format.format(health[name])}${isCut ? '+' : ''}`;
};

import { afterEach } from 'vitest';
import { createSender, type Sender, type SenderOptions } from '../../src/webhooks/send.ts';

/** Senders for the tests of one file. After each test all that is in `cleanups` ends, the latest first. */
export const useSenders = () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  return {
    cleanups,
    newSender(options: Partial<SenderOptions> = {}): Sender {
      const resolveHost = () => Promise.reject(new Error('no name may be looked up here'));
      const sender = createSender({ ownListeners: () => [], resolveHost, ...options });
      cleanups.push(sender.close);
      return sender;
    },
  };
};

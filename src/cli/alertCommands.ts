import type { Command } from 'commander';
import { FlorinError } from '../core/errors.ts';
import { sendSigned } from '../webhooks/sendSigned.ts';
import { alertBody } from '../workers/outboxSender.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { ConfigError } from './config.ts';
import { hashOfUrl, noteShown } from './live/shownRecord.ts';

const test = (options: Common): Promise<void> =>
  withAdmin(options, async ({ clock, ids, vault }, config) => {
    const { alertUrl: url } = config;
    if (url === null) throw new ConfigError(['FLORIN_ALERT_URL is not set']);
    const { createSender } = await import('../webhooks/send.ts');
    const sender = createSender({ ownListeners: () => [], reachesAnything: true });
    try {
      const atMs = clock.nowMs();
      const { id: eventId } = ids.next('event', atMs);
      const at = new Date(atMs).toISOString();
      const notice = { action: 'alert.tested', actor: { kind: 'operator', id: null }, subject: null, at } as const;
      const body = alertBody({ eventId, accountId: null, environment: null, notice });
      const webhook = { eventId, body, secrets: [vault.alertSecret()], atMs, url, allowLoopback: true };
      const { error, statusCode } = (await sendSigned(sender, webhook)).outcome;
      if (error !== null)
        throw new FlorinError('conflict', `FLORIN_ALERT_URL did not accept the test alert: ${error}.`);
      await noteShown(config, { alert: { urlHash: hashOfUrl(url), at } });
      print(options, { eventId, statusCode, at }, `FLORIN_ALERT_URL accepted ${eventId} with ${statusCode}.`);
    } finally {
      await sender.close();
    }
  });

export const addAlertCommands = (program: Command): void => {
  const alerts = program.command('alerts').description('Try the address that is told of security events.');
  common(
    alerts
      .command('test')
      .description(
        'Send a signed test alert to FLORIN_ALERT_URL, and keep for florin doctor --live that it was accepted.',
      ),
  ).action(test);
};

import { Argument, type Command } from 'commander';
import { type EventType, eventTypes } from '../core/payment/states.ts';
import { resolveAccount } from '../engine/access/accounts.ts';
import { triggerEvent } from '../engine/webhooks/triggerEvent.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { loadConfig } from './config.ts';

export const addTriggerCommand = (program: Command): void => {
  common(
    program
      .command('trigger')
      .description('Send a sandbox event with sample data to the endpoints that subscribe to it.'),
  )
    .addArgument(new Argument('<event>', 'Event type.').choices(eventTypes))
    .option('--account <id>', 'Account. Default: the first one.')
    .action(async (type: EventType, options: Common & { account?: string }) => {
      const config = await loadConfig({ flags: { dataDir: options.dataDir } });
      const url = config.publicUrls.sandbox ?? `https://localhost:${config.ports.sandbox}`;
      await withAdmin(options, async admin => {
        const { id: accountId } = await resolveAccount(admin, options.account ?? null);
        const scope = { accountId, environment: 'sandbox' } as const;
        const settings = { checkoutUrl: config.checkoutUrl ?? `${url}/checkout` };
        const { id, endpoints } = await triggerEvent(admin, scope, type, settings);
        const receivers = `${endpoints} ${endpoints === 1 ? 'endpoint' : 'endpoints'}`;
        print(
          options,
          { id, type, accountId, endpoints },
          `Sent ${type} as ${id} to ${receivers}, and to florin listen.`,
        );
      });
    });
};

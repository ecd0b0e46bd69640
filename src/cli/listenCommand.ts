import { type Command, InvalidArgumentError } from 'commander';
import type { Scope } from '../core/environment.ts';
import { invalid } from '../core/errors.ts';
import { eventTypes, starEventTypes } from '../core/payment/states.ts';
import { type AdminContext, resolveAccount } from '../engine/access/accounts.ts';
import { revealCallbacks } from '../engine/access/settings.ts';
import { operatorActing } from '../engine/audit/acting.ts';
import { perform } from '../engine/perform.ts';
import { checkWebhookUrl } from '../webhooks/guard.ts';
import type { Outcome, Sender } from '../webhooks/send.ts';
import { sendSigned } from '../webhooks/sendSigned.ts';
import { type Common, common, withAdmin } from './commands.ts';
import { newEvents } from './newEvents.ts';

const kindList = (text: string): string[] => {
  const kinds = [...new Set(text.split(',').map(kind => kind.trim()))];
  const unknown = kinds.find(kind => !eventTypes.some(type => type === kind));
  if (unknown === undefined) return kinds;
  throw new InvalidArgumentError(`${unknown} is not an event type. Choose from ${eventTypes.join(', ')}.`);
};

type ListenOptions = Common & { account?: string; forwardTo: string; events?: readonly string[] };

const forward = async (
  admin: AdminContext,
  { forwardTo: url, events = starEventTypes, json }: ListenOptions,
  scope: Scope,
  secret: string,
  sender: Sender,
  signal: AbortSignal,
): Promise<void> => {
  const tell = (id: string, type: string, { statusCode, error, durationMs }: Outcome): void => {
    const time = new Date().toISOString().slice(11, 19);
    const line = `${time}  ${type.padEnd(18)}  ${id}  ${statusCode ?? error} in ${durationMs} ms`;
    console.log(json ? JSON.stringify({ eventId: id, type, statusCode, error, durationMs }) : line);
  };
  try {
    for await (const { id, body } of newEvents(admin, scope, signal)) {
      const { type } = JSON.parse(body) as { type: string };
      if (!events.some(each => each === type)) continue;
      const webhook = { eventId: id, body, secrets: [secret], atMs: Date.now(), url, allowLoopback: true };
      tell(id, type, (await sendSigned(sender, webhook, signal)).outcome);
    }
  } finally {
    await sender.close();
  }
};

export const addListenCommand = (program: Command): void => {
  common(program.command('listen').description('Forward sandbox events to a server on this machine.'))
    .requiredOption('--forward-to <url>', 'URL of your server, for example http://localhost:3000/webhooks.')
    .option('--account <id>', 'Account. Default: the first one.')
    .option('--events <list>', 'Only these event types, separated by commas.', kindList)
    .action((options: ListenOptions) =>
      withAdmin(options, async admin => {
        const refused = checkWebhookUrl(options.forwardTo, { allowLoopback: true });
        if (refused !== null) throw invalid('forward-to', `--forward-to ${refused}.`);
        const account = await resolveAccount(admin, options.account ?? null);
        const scope: Scope = { accountId: account.id, environment: 'sandbox' };
        const secret = await perform(admin, operatorActing(scope), null, revealCallbacks(admin));
        // Loading the HTTP client took a quarter of every command's time, and only this one sends.
        const { createSender } = await import('../webhooks/send.ts');
        const stopping = new AbortController();
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
        if (options.json) console.log(JSON.stringify({ accountId: account.id, forwardTo: options.forwardTo, secret }));
        else {
          console.log(`Forwarding sandbox events of ${account.name} (${account.id}) to ${options.forwardTo}`);
          console.log(`Signing secret: ${secret} (it does not change). Press Ctrl-C to stop.\n`);
        }
        await forward(admin, options, scope, secret, createSender({ ownListeners: () => [] }), stopping.signal);
      }),
    );
};

import { callContract, readCode } from '../chains/evm/callContract.ts';
import { estimateGas } from '../chains/evm/estimateGas.ts';
import type { Environment } from '../core/environment.ts';
import type { SendMail } from '../core/mailNotice.ts';
import type { Network } from '../core/registry/networks.ts';
import type { Context, EnvironmentSettings } from '../engine/context.ts';
import { createMailer, type MailSettings } from '../mail/mailer.ts';
import type { Sender } from '../webhooks/send.ts';
import { sendSigned } from '../webhooks/sendSigned.ts';
import type { Config } from './config.ts';

/** Loops end their own attempts. */
const createSendMail = (mail: MailSettings, ending: AbortSignal): SendMail => {
  const send = createMailer(mail);
  return (message, signal = ending) => send(message, signal);
};

/** What use cases send at once, while somebody waits for the result, until the signal ends it. */
export const sending = (
  { mail }: Config,
  sender: Sender,
  settings: Readonly<Record<Environment, EnvironmentSettings>>,
  ending: AbortSignal,
): Pick<Context, 'deliver' | 'sendMail'> => ({
  async deliver({ environment, ...webhook }) {
    const { allowLoopback } = settings[environment];
    const { outcome } = await sendSigned(sender, { ...webhook, allowLoopback }, ending);
    const { delivered, statusCode, durationMs, error } = outcome;
    return { delivered, statusCode, durationMs, error };
  },
  sendMail: mail && createSendMail(mail, ending),
});

const rpcUrlsOf = (networks: readonly Network[], caip2: string): string[] => [
  ...new Set(networks.filter(network => network.caip2 === caip2).flatMap(network => network.rpcUrls)),
];

export const nodeCalls = (
  networks: readonly Network[],
): Pick<Context, 'estimateGas' | 'callContract' | 'readCode'> => ({
  estimateGas: (caip2, transaction) => estimateGas(rpcUrlsOf(networks, caip2), transaction),
  callContract: (caip2, transaction) => callContract(rpcUrlsOf(networks, caip2), transaction),
  readCode: (caip2, address) => readCode(rpcUrlsOf(networks, caip2), address),
});

import type { Outcome, Sender } from './send.ts';
import { signWebhook } from './sign.ts';

export type Webhook = {
  readonly eventId: string;
  /** The body of the event as it is stored. */
  readonly body: string;
  readonly secrets: readonly string[];
  readonly atMs: number;
  readonly url: string;
  readonly allowLoopback: boolean;
};

export type Sent = { readonly signature: string; readonly outcome: Outcome };

/** The only way out: signs an event and sends exactly the signed bytes. Throws only if it cannot be signed. */
export const sendSigned = async (sender: Sender, webhook: Webhook, signal?: AbortSignal): Promise<Sent> => {
  const { eventId: id, secrets, atMs, url, allowLoopback } = webhook;
  const body = Buffer.from(webhook.body);
  const headers = signWebhook({ secrets, id, timestampSeconds: Math.floor(atMs / 1000), body });
  const outcome = await sender.send({ url, headers, body, allowLoopback }, signal);
  return { signature: headers['webhook-signature'], outcome };
};

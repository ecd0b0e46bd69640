import { randomBytes } from 'node:crypto';
import { traceparentOf } from '../core/traceContext.ts';
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
  /** Of the request that caused the event, as the event keeps it. */
  readonly trace?: string | null;
};

export type Sent = { readonly signature: string; readonly outcome: Outcome };

/** The only way out: signs an event and sends exactly the signed bytes. Throws only if it cannot be signed. */
export const sendSigned = async (sender: Sender, webhook: Webhook, signal?: AbortSignal): Promise<Sent> => {
  const { eventId: id, secrets, atMs, url, allowLoopback, trace = null } = webhook;
  const body = Buffer.from(webhook.body);
  const signed = signWebhook({ secrets, id, timestampSeconds: Math.floor(atMs / 1000), body });
  // Each attempt is a parent of its own for what the receiver does.
  const traceparent = trace && traceparentOf(trace, randomBytes(8).toString('hex'));
  const headers = traceparent ? { ...signed, traceparent } : signed;
  const outcome = await sender.send({ url, headers, body, allowLoopback }, signal);
  return { signature: signed['webhook-signature'], outcome };
};

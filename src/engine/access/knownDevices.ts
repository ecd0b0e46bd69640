import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';

type Parts = Pick<Context, 'vault'>;

/** A device that signed a person in, as its cookie tells: whose sign-in, which device, and Florin's signature. */
type KnownDevice = { readonly subject: string; readonly id: string; readonly text: string };

/** Several people may share a browser. The one who signed in last comes first. */
const maxPeople = 5;
const between = '~';
const form = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

const knownDevices = ({ vault }: Parts, cookie: string | null): KnownDevice[] =>
  (cookie ?? '').split(between, maxPeople).flatMap(text => {
    const [, subject, id, mac] = form.exec(text) ?? [];
    return subject && id && mac && vault.verifyDeviceMac(subject, id, mac) ? [{ subject, id, text }] : [];
  });

/** The id of the device, if it signed somebody in before. */
export const someKnownDevice = (context: Parts, cookie: string | null): string | null =>
  knownDevices(context, cookie)[0]?.id ?? null;

/** The id of the device, if it signed in with this e-mail address before. */
export const knownDeviceOf = (context: Parts, cookie: string | null, email: string): string | null => {
  const subject = context.vault.deviceSubject(email);
  return knownDevices(context, cookie).find(each => each.subject === subject)?.id ?? null;
};

/** The cookie of a device that has just signed in with this e-mail address. */
export const rememberDevice = (context: Parts, cookie: string | null, email: string): string => {
  const subject = context.vault.deviceSubject(email);
  const known = knownDevices(context, cookie);
  const id = known.find(each => each.subject === subject)?.id ?? randomBytes(16).toString('base64url');
  const others = known.filter(each => each.subject !== subject).slice(0, maxPeople - 1);
  return [`${subject}.${id}.${context.vault.deviceMac(subject, id)}`, ...others.map(each => each.text)].join(between);
};

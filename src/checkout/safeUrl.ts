import { readSupportContact } from '../core/supportContact.ts';

const opensWallets = /^(?:ethereum|bitcoin|litecoin):/i;

/** The URL if it is https, otherwise null: no other scheme ever reaches a link. */
export const webUrl = (url: string | null): string | null => {
  const parsed = url === null ? null : URL.parse(url);
  return parsed?.protocol === 'https:' ? parsed.href : null;
};

export type ContactLink = { readonly href: string; readonly label: string };

/** Checks the contact again, in case somebody changed it in the database. Mail gets the given subject. */
export const contactLink = (contact: string | null, subject: string): ContactLink | null => {
  const found = contact === null ? null : readSupportContact(contact);
  if (found === null) return null;
  if (found.kind === 'web') return { href: found.text, label: new URL(found.text).host };
  const [name = '', host = ''] = found.text.split('@');
  const href = `mailto:${encodeURIComponent(name)}@${host}?subject=${encodeURIComponent(subject)}`;
  return { href, label: found.text };
};

export const walletUri = (uri: string): string | null => (opensWallets.test(uri) ? uri : null);

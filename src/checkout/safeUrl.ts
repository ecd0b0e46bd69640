import { readSupportContact } from '../core/supportContact.ts';

const opensWallets = /^(?:ethereum|bitcoin|litecoin):/i;

/** The address of a web page that may be linked to, else null: no other scheme ever reaches a link. */
export const webUrl = (url: string | null): string | null => {
  const parsed = url === null ? null : URL.parse(url);
  return parsed?.protocol === 'https:' ? parsed.href : null;
};

export type ContactLink = { readonly href: string; readonly label: string };

/** Read by the rule by which it was stored, whoever has written to the database since. Mail begins with the subject. */
export const contactLink = (contact: string | null, subject: string): ContactLink | null => {
  const found = contact === null ? null : readSupportContact(contact);
  if (found === null) return null;
  if (found.kind === 'web') return { href: found.text, label: new URL(found.text).host };
  const [name = '', host = ''] = found.text.split('@');
  const href = `mailto:${encodeURIComponent(name)}@${host}?subject=${encodeURIComponent(subject)}`;
  return { href, label: found.text };
};

export const walletUri = (uri: string): string | null => (opensWallets.test(uri) ? uri : null);

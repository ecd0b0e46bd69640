/** Where payers can ask the merchant about their money. */
export type SupportContact = { readonly kind: 'mail' | 'web'; readonly text: string };

const longestContact = 300;

// The database has the same rules. Both allow only text that is safe in a link, and no other scheme.
const mailAddress =
  /^[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;
const webAddress = /^https:\/\/(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?\/[!#-;=?-~]*$/;

/** As browsers write it, with non-ASCII hosts and paths encoded. */
const webTextOf = (given: string): string => URL.parse(given)?.href ?? '';

const mailTextOf = (given: string): string => {
  const [, name, host] = /^([^\s@]+)@([^\s@/\\?#:]+)$/.exec(given) ?? [];
  return name === undefined ? '' : `${name}@${URL.parse(`https://${host}`)?.hostname ?? ''}`;
};

/** Parses an e-mail address or an https URL. Returns null for anything else. */
export const readSupportContact = (given: string): SupportContact | null => {
  const isWeb = /^https:\/\//i.test(given);
  const text = isWeb ? webTextOf(given) : mailTextOf(given);
  const isContact = text.length <= longestContact && (isWeb ? webAddress : mailAddress).test(text);
  return isContact ? { kind: isWeb ? 'web' : 'mail', text } : null;
};

/** The rules for passwords. Length matters most. The list of breached ones is in `vault/breachedPasswords`. */

export const shortestPassword = 12;
export const longestPassword = 256;

/** The form in which passwords are compared with what attackers try. */
export const plainPassword = (password: string): string => password.normalize('NFKC').toLowerCase().trim();

/** What attackers try first at a Florin, and what has too few different characters. */
export const isGuessable = (plain: string): boolean => plain.includes('florin') || new Set(plain).size < 4;

/** A shorter part of an e-mail address is in many good passwords by chance. */
const shortestName = 4;

const isAboutPerson = (plain: string, { email, name }: { email: string; name: string }): boolean => {
  const [address, local] = [plainPassword(email), plainPassword(email.split('@', 1)[0]!)];
  return (
    plain === address ||
    plain === plainPassword(name) ||
    plain === local ||
    (local.length >= shortestName && plain.includes(local))
  );
};

/** Why this password is refused for this person, or null. */
export const refusePassword = (password: string, person: { email: string; name: string }): string | null => {
  const length = [...password].length;
  if (length < shortestPassword) return `The password must have at least ${shortestPassword} characters.`;
  if (length > longestPassword) return `The password must have at most ${longestPassword} characters.`;
  const plain = plainPassword(password);
  if (isAboutPerson(plain, person))
    return 'The password must not be your name or contain your e-mail address. Use a few unrelated words.';
  if (isGuessable(plain)) return 'This password is easy to guess. Use a few unrelated words, without “florin”.';
  return null;
};

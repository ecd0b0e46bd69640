/**
 * Whether a text looks like a seed or a private key. Checked before anything is sent: the server never needs such a
 * secret and must not receive it.
 */
export const secretShape = (text: string): 'seed' | 'private key' | null => {
  const given = text.trim();
  if (/^[xyzt]prv[1-9A-HJ-NP-Za-km-z]/i.test(given)) return 'private key';
  if (/^(?:0x)?[0-9a-f]{64}$/i.test(given)) return 'private key';
  if (/^[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}$/.test(given)) return 'private key';
  const words = given.split(/\s+/);
  return words.length >= 12 && words.every(word => /^\p{L}+$/u.test(word)) ? 'seed' : null;
};

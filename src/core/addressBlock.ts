export type AddressBlock = { readonly address: string; readonly family: 4 | 6; readonly prefixBits: number };

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);

const familyOf = (text: string): 4 | 6 | null => {
  if (ipv4.test(text)) return 4;
  // No zone and no brackets: what is left of IPv6 is what the URL parser reads between its brackets.
  return /^[0-9a-fA-F:.]{2,45}$/.test(text) && URL.canParse(`http://[${text}]`) ? 6 : null;
};

/** An IP address, or a block of them in CIDR notation; null for anything else. */
export const readAddressBlock = (text: string): AddressBlock | null => {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = familyOf(address);
  if (family === null || rest.length > 0) return null;
  const most = family === 4 ? 32 : 128;
  if (prefix === undefined) return { address, family, prefixBits: most };
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > most) return null;
  return { address, family, prefixBits: Number(prefix) };
};

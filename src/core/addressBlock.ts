export type AddressBlock = { readonly address: string; readonly family: 4 | 6; readonly prefixBits: number };

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);

const familyOf = (text: string): 4 | 6 | null => {
  if (ipv4.test(text)) return 4;
  // The pattern excludes zones and brackets. The URL parser decides whether the rest is a valid IPv6 address.
  return /^[0-9a-fA-F:.]{2,45}$/.test(text) && URL.canParse(`http://[${text}]`) ? 6 : null;
};

/** Parses an IP address or a CIDR block. Returns null for anything else. */
export const readAddressBlock = (text: string): AddressBlock | null => {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = familyOf(address);
  if (family === null || rest.length > 0) return null;
  const maxBits = family === 4 ? 32 : 128;
  if (prefix === undefined) return { address, family, prefixBits: maxBits };
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) || Number(prefix) > maxBits) return null;
  return { address, family, prefixBits: Number(prefix) };
};

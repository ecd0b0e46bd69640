const opensWallets = /^(?:ethereum|bitcoin|litecoin):/i;

/** The address of a web page that may be linked to, else null: no other scheme ever reaches a link. */
export const webUrl = (url: string | null): string | null => {
  const parsed = url === null ? null : URL.parse(url);
  return parsed?.protocol === 'https:' ? parsed.href : null;
};

export const walletUri = (uri: string): string | null => (opensWallets.test(uri) ? uri : null);

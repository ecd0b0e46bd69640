import { type IdKind, idPrefixes } from '../../src/core/ids.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The millisecond that an id was made in. */
export const timeOfId = (kind: IdKind, id: string): number => {
  let ms = 0;
  const start = idPrefixes[kind].length;
  for (let i = start; i < start + 10; i++) ms = ms * 32 + alphabet.indexOf(id[i]!);
  return ms;
};

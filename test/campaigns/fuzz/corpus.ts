import type { Attack, Target } from './attack.ts';
import * as body from './bodyAttacks.ts';
import * as header from './headerAttacks.ts';
import * as place from './placeAttacks.ts';
import { createRandom, type Random } from './random.ts';
import * as text from './textAttacks.ts';
import * as transport from './transportAttacks.ts';

type Maker = (random: Random, target: Target) => Attack;

/** How many of a thousand requests are of each sort. */
const shares: readonly (readonly [perMille: number, make: Maker])[] = [
  [170, body.wrongType],
  [180, body.wrongValue],
  [80, body.unknownField],
  [20, body.missingField],
  [50, body.duplicateKey],
  [30, body.notAnObject],
  [90, text.badSyntax],
  [60, text.badUnicode],
  [24, text.bomb],
  [15, text.oversized],
  [40, text.contentType],
  [80, place.badQuery],
  [60, place.badPath],
  [20, place.badMethod],
  [20, header.badHeader],
  [15, header.badKey],
  [20, header.badIdempotencyKey],
  [12, transport.badFraming],
  [6, transport.truncated],
  [5, transport.garbage],
  [2, transport.plainHttp],
  [1, transport.stalled],
];

export type CorpusOptions = { readonly seed: number; readonly stalls: boolean };

/** The request at this place of the corpus. It depends on the seed and the index alone, the target's names aside. */
export const attackAt = ({ seed, stalls }: CorpusOptions, index: number, target: Target): Attack => {
  const random = createRandom(`${seed}:${index}`);
  // The generator's first values are close for neighbouring seeds.
  for (let warm = 0; warm < 4; warm++) random.next();
  let ticket = random.below(1_000);
  for (const [perMille, make] of shares) {
    if (ticket < perMille) {
      const chosen = make === transport.stalled && !stalls ? transport.truncated : make;
      return chosen(random, target);
    }
    ticket -= perMille;
  }
  throw new Error('the shares do not add up to a thousand');
};

import { baselineSeals } from '../../storage/chain/baselineSeals.ts';
import { blockSeals } from '../../storage/chain/blockSeals.ts';
import { lostAddressSeals } from '../../storage/chain/lostAddressSeals.ts';
import { transferSeals } from '../../storage/chain/transferSeals.ts';
import type { LargeTable } from '../../storage/largeSeals.ts';
import { sealedPayments } from '../../storage/payments/sealedPayments.ts';
import { sealedAnswers } from '../../storage/sealedAnswers.ts';
import { forwardSeals } from '../../storage/settlement/forwardSeals.ts';
import { sealedCallbacks, sealedEvents } from '../../storage/webhooks/sealedEvents.ts';

/** The tables whose seals are computed where their rows are written. */
export const largeTables: readonly LargeTable[] = [
  sealedPayments,
  sealedEvents,
  sealedCallbacks,
  sealedAnswers,
  blockSeals,
  transferSeals,
  forwardSeals,
  baselineSeals,
  lostAddressSeals,
];

import { useState } from 'react';

const placeOf = (accountId: string): string => `florin.dismissed.${accountId}`;

const keptIn = (place: string): number => {
  try {
    return Number(localStorage.getItem(place) ?? 0);
  } catch {
    return 0;
  }
};

/**
 * The latest row of the audit log that was dismissed. It is kept in this browser only: a thief who has the session in
 * another browser dismisses nothing here.
 */
export const useDismissed = (accountId: string): readonly [number, (upTo: number) => void] => {
  const place = placeOf(accountId);
  const [kept, keep] = useState(() => ({ place, upTo: keptIn(place) }));
  const dismiss = (upTo: number): void => {
    keep({ place, upTo });
    try {
      localStorage.setItem(place, String(upTo));
    } catch {
      // Storage may be blocked. The acts then stay dismissed until the next reload.
    }
  };
  return [kept.place === place ? kept.upTo : keptIn(place), dismiss];
};

/**
 * Whom a signal ends. It has one listener while anybody is there, and none otherwise: to add and remove one for each
 * delivery costs more than signing it.
 */
export const createCancellation = () => {
  const bySignal = new WeakMap<AbortSignal, { readonly cancels: Set<() => void>; readonly listener: () => void }>();
  const partiesOf = (signal: AbortSignal) => {
    const known = bySignal.get(signal);
    if (known) return known;
    const cancels = new Set<() => void>();
    const listener = (): void => {
      for (const cancel of [...cancels]) cancel();
    };
    const parties = { cancels, listener };
    bySignal.set(signal, parties);
    return parties;
  };
  return {
    add(signal: AbortSignal, cancel: () => void): void {
      const { cancels, listener } = partiesOf(signal);
      if (cancels.size === 0) signal.addEventListener('abort', listener);
      cancels.add(cancel);
    },
    remove(signal: AbortSignal, cancel: () => void): void {
      const { cancels, listener } = partiesOf(signal);
      if (cancels.delete(cancel) && cancels.size === 0) signal.removeEventListener('abort', listener);
    },
  };
};

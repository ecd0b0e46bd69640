/**
 * Calls all registered functions when a signal aborts. Each signal has at most one listener: adding and removing one
 * per delivery costs more than signing it.
 */
export const createCancellation = () => {
  const bySignal = new WeakMap<AbortSignal, { readonly cancels: Set<() => void>; readonly listener: () => void }>();
  const entryOf = (signal: AbortSignal) => {
    const existing = bySignal.get(signal);
    if (existing) return existing;
    const cancels = new Set<() => void>();
    const listener = (): void => {
      for (const cancel of [...cancels]) cancel();
    };
    const entry = { cancels, listener };
    bySignal.set(signal, entry);
    return entry;
  };
  return {
    add(signal: AbortSignal, cancel: () => void): void {
      const { cancels, listener } = entryOf(signal);
      if (cancels.size === 0) signal.addEventListener('abort', listener);
      cancels.add(cancel);
    },
    remove(signal: AbortSignal, cancel: () => void): void {
      const { cancels, listener } = entryOf(signal);
      if (cancels.delete(cancel) && cancels.size === 0) signal.removeEventListener('abort', listener);
    },
  };
};

import { type ReactElement, useSyncExternalStore } from 'react';
import { Icon } from './icon.tsx';

export type Toast = { readonly id: number; readonly text: string; readonly tone: 'good' | 'bad' };
const shownMs = 6_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const set = (next: readonly Toast[]): void => {
  toasts = next;
  for (const listener of listeners) listener();
};

/** Shows a short message and has it read aloud. Anything that must not be missed belongs on the page instead. */
export const say = (text: string, tone: Toast['tone'] = 'good'): void => {
  lastId += 1;
  const id = lastId;
  set([...toasts.slice(-2), { id, text, tone }]);
  setTimeout(() => set(toasts.filter(toast => toast.id !== id)), shownMs);
};

const watch = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const Toasts = (): ReactElement => {
  const shown = useSyncExternalStore(watch, () => toasts);
  return (
    <div className="toasts" aria-live="polite" role="status">
      {shown.map(({ id, text, tone }) => (
        <p key={id} className={`toast toast-${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'warning'} />
          {text}
        </p>
      ))}
    </div>
  );
};

import type { ReactElement, ReactNode } from 'react';

export type Tone = 'good' | 'bad' | 'care' | 'info' | 'calm';

export const Badge = ({ tone = 'calm', children }: { tone?: Tone; children: ReactNode }): ReactElement => (
  <span className={`badge badge-${tone}`}>{children}</span>
);

const tones: Readonly<Record<string, Tone>> = {
  completed: 'good',
  succeeded: 'good',
  delivered: 'good',
  operational: 'good',
  active: 'good',
  enabled: 'good',
  landed: 'good',
  verified: 'good',
  confirming: 'info',
  rotating: 'info',
  sent: 'info',
  waiting: 'info',
  retrying: 'care',
  degraded: 'care',
  underpaid: 'care',
  late: 'care',
  overpaid: 'care',
  reversed: 'bad',
  failed: 'bad',
  parked: 'bad',
  halted: 'bad',
  unavailable: 'bad',
  revoked: 'bad',
  disabled: 'care',
};

const spoken = (word: string): string => {
  const text = word.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** A state by its own word. States that need no action are grey. */
export const StatusBadge = ({ status }: { status: string }): ReactElement => (
  <Badge tone={tones[status] ?? 'calm'}>{spoken(status)}</Badge>
);

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

/** Labels that differ from the API's own word. */
const labels: Readonly<Record<string, string>> = { parked: 'Given up' };

const labelOf = (status: string): string => {
  const text = labels[status] ?? status.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** Shows a status. A status that needs no action is grey. */
export const StatusBadge = ({ status }: { status: string }): ReactElement => (
  <Badge tone={tones[status] ?? 'calm'}>{labelOf(status)}</Badge>
);

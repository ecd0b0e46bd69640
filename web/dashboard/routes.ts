import { type ComponentType, lazy } from 'react';
import type { Action } from '../../src/core/access/rights.ts';
import { untilLoaded } from './connection.ts';
import type { IconName } from './kit/icon.tsx';

type Params = Readonly<Record<string, string>>;
/** Each page is the default export of its own file, which is loaded on demand. */
export type PageOf = ComponentType<{ params: Params }>;

export type Route = {
  /** The path after the environment: `/payments/:id`. */
  readonly path: string;
  readonly Page: PageOf;
  /** People whose role lacks this action do not see the page. */
  readonly action: Action | null;
  /** Its place in the sidebar; null for pages that other pages link to. */
  readonly menu: {
    readonly label: string;
    readonly icon: IconName;
    readonly group: 'money' | 'build' | 'account';
  } | null;
};

const page = (load: () => Promise<{ default: PageOf }>): PageOf => lazy(() => untilLoaded(load)) as unknown as PageOf;

export const routes: readonly Route[] = [
  {
    path: '/',
    Page: page(() => import('./pages/home.tsx')),
    action: 'payments.read',
    menu: { label: 'Home', icon: 'home', group: 'money' },
  },
  {
    path: '/payments',
    Page: page(() => import('./pages/payments.tsx')),
    action: 'payments.read',
    menu: { label: 'Payments', icon: 'payments', group: 'money' },
  },
  {
    path: '/keys',
    Page: page(() => import('./pages/keys.tsx')),
    action: 'keys.read',
    menu: { label: 'API keys', icon: 'keys', group: 'build' },
  },
  {
    path: '/webhooks',
    Page: page(() => import('./pages/webhooks.tsx')),
    action: 'webhooks.read',
    menu: { label: 'Webhooks', icon: 'webhooks', group: 'build' },
  },
  { path: '/webhooks/:id', Page: page(() => import('./pages/webhook.tsx')), action: 'webhooks.read', menu: null },
  { path: '/deliveries/:id', Page: page(() => import('./pages/delivery.tsx')), action: 'deliveries.read', menu: null },
  { path: '/payments/:id', Page: page(() => import('./pages/payment.tsx')), action: 'payments.read', menu: null },
  {
    path: '/settlement',
    Page: page(() => import('./pages/settlement.tsx')),
    action: 'settlement.read',
    menu: { label: 'Settlement', icon: 'settlement', group: 'money' },
  },
  {
    path: '/go-live',
    Page: page(() => import('./pages/goLive.tsx')),
    action: 'settings.read',
    menu: { label: 'Go live', icon: 'goLive', group: 'build' },
  },
  { path: '/start', Page: page(() => import('./pages/start.tsx')), action: 'keys.manage', menu: null },
  {
    path: '/wallets',
    Page: page(() => import('./pages/wallets.tsx')),
    action: 'wallets.read',
    menu: { label: 'Wallets', icon: 'wallets', group: 'money' },
  },
  {
    path: '/team',
    Page: page(() => import('./pages/team.tsx')),
    action: 'team.read',
    menu: { label: 'Team', icon: 'team', group: 'account' },
  },
  {
    path: '/audit',
    Page: page(() => import('./pages/audit.tsx')),
    action: 'audit.read',
    menu: { label: 'Audit log', icon: 'audit', group: 'account' },
  },
  {
    path: '/settings',
    Page: page(() => import('./pages/settings.tsx')),
    action: 'settings.read',
    menu: { label: 'Settings', icon: 'settings', group: 'account' },
  },
  {
    path: '/branding',
    Page: page(() => import('./pages/branding.tsx')),
    action: 'settings.read',
    menu: { label: 'Branding', icon: 'branding', group: 'account' },
  },
  {
    path: '/restore-review',
    Page: page(() => import('./pages/restoreReview.tsx')),
    action: 'team.read',
    menu: null,
  },
  { path: '/account', Page: page(() => import('./pages/account.tsx')), action: null, menu: null },
];

export const matchRoute = (path: string): { route: Route; params: Params } | null => {
  const parts = path.split('/');
  for (const route of routes) {
    const wanted = route.path.split('/');
    if (wanted.length !== parts.length) continue;
    const isMatch = wanted.every((part, index) => part.startsWith(':') || part === parts[index]);
    if (!isMatch) continue;
    const named = wanted.flatMap((part, index) =>
      part.startsWith(':') ? [[part.slice(1), decodeURIComponent(parts[index]!)] as const] : [],
    );
    return { route, params: Object.fromEntries(named) };
  }
  return null;
};

/** Pages without an environment and without the shell. */
export const outsidePages: Readonly<Record<string, PageOf>> = {
  '/sign-in': page(() => import('./pages/signIn.tsx')),
  '/setup': page(() => import('./pages/setup.tsx')),
  '/invitation': page(() => import('./pages/invitation.tsx')),
  '/forgotten': page(() => import('./pages/forgotten.tsx')),
  '/recovery': page(() => import('./pages/recovery.tsx')),
};

import type { ReactElement } from 'react';

/** SVG paths in a 24 × 24 square. */
const paths = {
  home: 'M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z',
  payments: 'M3 7h18v11a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1zM3 7l2-2h14l2 2M7 15h4',
  settlement: 'M12 3v12m0 0 4-4m-4 4-4-4M4 17v3h16v-3',
  keys: 'M14 10a4 4 0 1 0-4 4 4 4 0 0 0 2.5-.9L15 15.5h2.5V18H20v2h1v-3.5l-7.3-4.9',
  webhooks: 'M12 5a3 3 0 1 1 2 5l3 5M6 17a3 3 0 1 1 3-3M9 17h6m0 0a3 3 0 1 0 3-2.8',
  wallets: 'M4 6h14a2 2 0 0 1 2 2v10a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zm0 0 11-2v2m5 5h-4a2 2 0 0 0 0 4h4',
  goLive: 'M5 19c0-3 1-5 3-6l7-8c2-1 4-1 5-1 0 1 0 3-1 5l-8 7c-1 2-3 3-6 3zm9-10h.01',
  team: 'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-6 8c0-3 3-5 6-5s6 2 6 5m1-8a3 3 0 1 0 0-6m2 9c2 .5 3 2 3 5',
  audit: 'M6 3h9l4 4v14H6zM9 10h6M9 14h6M9 18h4',
  settings:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm0-12v3m0 12v3M3 12h3m12 0h3M5.6 5.6l2.2 2.2m8.4 8.4 2.2 2.2m0-12.8-2.2 2.2M7.8 16.2l-2.2 2.2',
  branding: 'M4 16.5 14.5 6a2.1 2.1 0 0 1 3 3L7 19.5H4zM13 7.5l3 3M13 19.5h7',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-8 8c0-4 4-6 8-6s8 2 8 6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'm6 6 12 12M18 6 6 18',
  check: 'm5 12 5 5 9-10',
  warning: 'M12 4 2.5 20h19zM12 10v4m0 3h.01',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  chevron: 'm9 6 6 6-6 6',
  external: 'M14 4h6v6m0-6-9 9M9 5H5v14h14v-4',
  download: 'M12 4v11m0 0 4-4m-4 4-4-4M5 20h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zm5-2 5 5',
  plus: 'M12 5v14M5 12h14',
  passkey:
    'M10 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 9c0-4 3-6 7-6 1 0 2 .2 3 .5M18 11a2.5 2.5 0 0 0-1 4.8V20l1.5 1.5L20 20l-1-1 1-1-1-1.5v-.7a2.5 2.5 0 0 0-1-4.8z',
  refresh: 'M20 12a8 8 0 1 1-2.3-5.7L20 8.5M20 4v4.5h-4.5',
} as const;
export type IconName = keyof typeof paths;

/** Hidden from screen readers, because a text or an `aria-label` says the same. */
export const Icon = ({ name }: { name: IconName }): ReactElement => (
  <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);

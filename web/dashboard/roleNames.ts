import type { Role } from '../../src/core/access/rights.ts';

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  finance: 'Finance',
  support: 'Support',
  viewer: 'Viewer',
};

import type { ReactElement } from 'react';
import { type Role, roles } from '../../../src/core/access/rights.ts';
import { RadioChoices } from '../kit/field.tsx';
import { roleNames } from '../roleNames.ts';
import { useMay } from '../session.tsx';

const roleText: Readonly<Record<Role, string>> = {
  owner: 'Everything, including owners.',
  admin: 'Everything except owners.',
  developer: 'API keys, webhooks, secrets and payments. No wallets, no team.',
  finance: 'Payments, settlement and the audit log. No API keys, no webhooks.',
  support: 'Finds, cancels and accepts payments. Resends webhooks.',
  viewer: 'Read-only access.',
};

/** Only owners can make somebody an owner. */
export const RoleChoices = ({ chosen = 'viewer' }: { chosen?: Role }): ReactElement => {
  const mayMakeOwners = useMay('team.owners');
  const options = roles
    .filter(role => role !== 'owner' || mayMakeOwners)
    .map(role => ({ value: role, label: roleNames[role], hint: roleText[role] }));
  return <RadioChoices legend="Role" name="role" options={options} chosen={chosen} />;
};

import type { ReactElement } from 'react';
import { type Role, roles } from '../../../src/core/dashboard/roles.ts';
import { RadioChoices } from '../kit/field.tsx';
import { roleNames } from '../roleNames.ts';
import { useMay } from '../session.tsx';

const roleText: Readonly<Record<Role, string>> = {
  owner: 'Everything, owners included.',
  admin: 'Everything but owners.',
  developer: 'Keys, webhooks, secrets and payments. No wallets, no team.',
  finance: 'Payments, settlement and the audit log. No keys, no webhooks.',
  support: 'Looks up, cancels and accepts payments, resends webhooks.',
  viewer: 'Looks, and changes nothing.',
};

/** Owners are made by owners alone. */
export const RoleChoices = ({ chosen = 'viewer' }: { chosen?: Role }): ReactElement => {
  const mayMakeOwners = useMay('team.owners');
  const options = roles
    .filter(role => role !== 'owner' || mayMakeOwners)
    .map(role => ({ value: role, label: roleNames[role], hint: roleText[role] }));
  return <RadioChoices legend="Role" name="role" options={options} chosen={chosen} />;
};

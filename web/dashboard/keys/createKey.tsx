import { type ReactElement, useState } from 'react';
import { grantable, type Permission } from '../../../src/core/access/rights.ts';
import type { ApiKey } from '../../../src/core/api/setupApi.ts';
import { Button } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Checkbox, Choices, Field, Select, TextArea } from '../kit/field.tsx';
import { Form, FormError, Submit, type Values } from '../kit/form.tsx';
import { useAct } from '../serverCalls.ts';
import { useSession } from '../session.tsx';
import { KeyOnce } from './keyOnce.tsx';
import { permissionText } from './permissionText.ts';

const dayMs = 86_400_000;
const expiries = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a date you choose' },
] as const;

/** A chosen date means the end of that day in the person's time zone. */
const expiryOf = (values: Values): string | null => {
  const chosen = values.text('expiry');
  if (chosen === '') return null;
  if (chosen === 'date') return new Date(`${values.text('expiresAt')}T23:59:59`).toISOString();
  return new Date(Date.now() + Number(chosen) * dayMs).toISOString();
};

const wordsIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

const KeyForm = ({
  onMade,
  onClose,
}: {
  onMade: (made: ApiKey & { key: string }) => void;
  onClose: () => void;
}): ReactElement => {
  const create = useAct('POST /keys', { refresh: ['GET /keys'] });
  const { role } = useSession().person;
  const [expiry, setExpiry] = useState('');
  const submit = async (values: Values): Promise<void> => {
    const scopes = values.all('scopes') as Permission[];
    if (scopes.length === 0) throw new Error('Choose at least one permission.');
    const addresses = wordsIn(values.text('ipAllow'));
    const body = {
      name: values.text('name'),
      scopes,
      ipAllow: addresses.length > 0 ? addresses : null,
      expiresAt: expiryOf(values),
    };
    onMade(await create.mutateAsync({ body }));
  };
  return (
    <Form onSubmit={submit} label="New key">
      <Field label="Name" name="name" hint="For example the server that uses it." maxLength={100} required />
      <Choices legend="Permissions">
        {grantable(role).map(each => (
          <Checkbox
            key={each}
            name="scopes"
            value={each}
            defaultChecked={each === 'payments:read' || each === 'payments:write'}
            label={
              <>
                {permissionText[each].label} <code className="muted">{each}</code>
              </>
            }
            hint={permissionText[each].hint}
          />
        ))}
      </Choices>
      <TextArea
        label="Allowed IP addresses (optional)"
        name="ipAllow"
        rows={2}
        spellCheck={false}
        placeholder="203.0.113.7, 2001:db8::/48"
        hint="Addresses or ranges. The key is refused from anywhere else. Leave empty to allow every address."
      />
      <Select
        label="Expires"
        name="expiry"
        options={expiries}
        value={expiry}
        onChange={event => setExpiry(event.target.value)}
        hint="An expired key cannot be made valid again."
      />
      {expiry === 'date' && <Field label="Last day" name="expiresAt" type="date" required />}
      <FormError />
      <Buttons>
        <Submit>Create key</Submit>
        <Button onClick={onClose}>Cancel</Button>
      </Buttons>
    </Form>
  );
};

export const CreateKey = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactElement => {
  const [made, setMade] = useState<(ApiKey & { key: string }) | null>(null);
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={made ? 'Your new key' : 'Create a key'} isWide={made !== null}>
      {made ? <KeyOnce made={made} onDone={close} /> : <KeyForm onMade={setMade} onClose={close} />}
    </Dialog>
  );
};

import { type ReactElement, useState } from 'react';
import type { ApiKey } from '../../../src/core/api/setupApi.ts';
import { Button } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { RadioChoices, type RadioOption } from '../kit/field.tsx';
import { Form, FormError, Submit, type Values } from '../kit/form.tsx';
import { useAct } from '../serverCalls.ts';
import { KeyOnce } from './keyOnce.tsx';

type Overlap = '0' | '1h' | '24h' | '7d';
const overlaps: readonly RadioOption<Overlap>[] = [
  {
    value: '0',
    label: 'It stops at once',
    hint: 'The old key is refused within a second. Choose this if it was leaked.',
  },
  { value: '1h', label: '1 hour', hint: 'Enough to restart one server with the new key.' },
  { value: '24h', label: '24 hours', hint: 'Enough for a normal deployment.' },
  { value: '7d', label: '7 days', hint: 'For many servers, or if another company uses the key.' },
];

const RotateForm = ({
  apiKey,
  onMade,
  onClose,
}: {
  apiKey: ApiKey;
  onMade: (made: ApiKey & { key: string }) => void;
  onClose: () => void;
}): ReactElement => {
  const rotate = useAct('POST /keys/:id/rotate', { refresh: ['GET /keys'] });
  const submit = async (values: Values): Promise<void> => {
    const overlap = values.text('overlap') as Overlap;
    onMade(await rotate.mutateAsync({ params: { id: apiKey.id }, body: { overlap } }));
  };
  return (
    <Form onSubmit={submit} label="Rotate the key">
      <p>
        You get a new key with the same name, permissions and allowed IP addresses as <strong>{apiKey.name}</strong>.
        Both keys work for the time you choose. Then the old key is refused.
      </p>
      <RadioChoices legend="How long the old key keeps working" name="overlap" options={overlaps} chosen="24h" />
      <FormError />
      <Buttons>
        <Submit>Create new key</Submit>
        <Button onClick={onClose}>Cancel</Button>
      </Buttons>
    </Form>
  );
};

export const RotateKey = ({ apiKey, onClose }: { apiKey: ApiKey | null; onClose: () => void }): ReactElement => {
  const [made, setMade] = useState<(ApiKey & { key: string }) | null>(null);
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      isOpen={apiKey !== null}
      onClose={close}
      title={made ? 'Your new key' : 'Rotate the key'}
      isWide={made !== null}
    >
      {made && <KeyOnce made={made} onDone={close} />}
      {!made && apiKey && <RotateForm apiKey={apiKey} onMade={setMade} onClose={close} />}
    </Dialog>
  );
};

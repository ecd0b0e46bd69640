import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { CallError } from '../client.ts';
import { Button } from '../kit/button.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { RadioChoices, type RadioOption, TextArea } from '../kit/field.tsx';
import { Form, FormError, Submit, type Values } from '../kit/form.tsx';
import { useAct } from '../serverCalls.ts';
import { secretShape } from './secretShape.ts';

export type Given = { network: string; treasury: string } | { network: string; xpub: string };
export type Preview = AnswerOf<'POST /wallets/preview'>;

const givenOf = (network: string, values: Values): Given => {
  const kind = values.text('kind');
  const text = values.text(kind);
  const secret = secretShape(text);
  if (secret !== null)
    throw new CallError(null, {
      code: 'secret_given',
      message: `This looks like a ${secret}. Florin never needs it, and nothing was sent. Anyone who has it can take your money.`,
      param: kind,
    });
  return kind === 'xpub' ? { network, xpub: text } : { network, treasury: text };
};

type Kind = 'treasury' | 'xpub';
const kinds: readonly RadioOption<Kind>[] = [
  {
    value: 'treasury',
    label: 'Treasury address',
    hint: 'Each payment gets its own forwarder contract, which can only pay this address. You sweep many payments at once.',
  },
  {
    value: 'xpub',
    label: 'Extended public key (xpub)',
    hint: 'Each payment gets the next address of your own wallet. Money arrives in your wallet directly, without sweeps.',
  },
];

/** The address is checked and previewed before it can be set. */
export const GiveWallet = ({
  network,
  onPreview,
  onClose,
}: {
  network: string;
  onPreview: (given: Given, preview: Preview) => void;
  onClose: () => void;
}): ReactElement => {
  const look = useAct('POST /wallets/preview');
  const [kind, setKind] = useState<Kind>('treasury');
  return (
    <Form
      label="Wallet"
      onSubmit={async values => {
        const given = givenOf(network, values);
        onPreview(given, await look.mutateAsync({ body: given }));
      }}
    >
      <RadioChoices legend="Payout address" name="kind" options={kinds} chosen={kind} onChoose={setKind} />
      {kind === 'treasury' ? (
        <TextArea label="Treasury address" name="treasury" rows={2} placeholder="0x…" spellCheck={false} required />
      ) : (
        <TextArea
          label="Extended public key"
          name="xpub"
          rows={3}
          placeholder="xpub…"
          spellCheck={false}
          hint="Florin can derive addresses from it. It cannot spend from them."
          required
        />
      )}
      <p className="muted">Never share a seed phrase or a private key. Florin does not ask for one.</p>
      <FormError />
      <Buttons>
        <Submit>Preview</Submit>
        <Button onClick={onClose}>Cancel</Button>
      </Buttons>
    </Form>
  );
};

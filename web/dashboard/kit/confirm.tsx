import type { ReactElement, ReactNode } from 'react';
import { Button } from './button.tsx';
import { Buttons, Dialog } from './dialog.tsx';
import { Form, FormError, Submit } from './form.tsx';

/** Asks before something that cannot be taken back. The button says what it does. */
export const Confirm = ({
  isOpen,
  onClose,
  title,
  verb,
  refusal = 'Keep it',
  kind = 'danger',
  children,
  act,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  verb: string;
  /** The other button, where there is nothing to keep. */
  refusal?: string;
  kind?: 'danger' | 'primary';
  children: ReactNode;
  act: () => Promise<unknown>;
}): ReactElement => (
  <Dialog isOpen={isOpen} onClose={onClose} title={title}>
    <Form
      onSubmit={async () => {
        await act();
        onClose();
      }}
    >
      {children}
      <FormError />
      <Buttons>
        <Submit kind={kind}>{verb}</Submit>
        <Button onClick={onClose}>{refusal}</Button>
      </Buttons>
    </Form>
  </Dialog>
);

import type { ReactElement, ReactNode } from 'react';
import { Button } from './button.tsx';
import { Buttons, Dialog } from './dialog.tsx';
import { Form, FormError, Submit } from './form.tsx';

/** Asks before an action that cannot be undone. The button names the action. */
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
  /** The label of the other button. */
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

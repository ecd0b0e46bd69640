import { createContext, type ReactElement, type ReactNode, use, useRef, useState } from 'react';
import { CallError } from '../client.ts';
import { Button, type ButtonKind } from './button.tsx';
import { ErrorBox } from './states.tsx';

/** `field` is the name of the field that the error is about; null if the form has no such field. */
export type FormState = { readonly isBusy: boolean; readonly error: CallError | null; readonly field: string | null };
export const FormContext = createContext<FormState>({ isBusy: false, error: null, field: null });

export type Values = {
  /** The trimmed value of a field; '' if the form has no such field. */
  text(name: string): string;
  /** The untrimmed value, for passwords. */
  exact(name: string): string;
  all(name: string): string[];
  has(name: string): boolean;
};

const valuesOf = (data: FormData): Values => {
  const exact = (name: string): string => String(data.get(name) ?? '');
  return {
    exact,
    text: name => exact(name).trim(),
    all: name => data.getAll(name).map(String),
    has: name => data.has(name),
  };
};

const asCallError = (error: unknown): CallError =>
  error instanceof CallError
    ? error
    : new CallError(null, { code: 'failed', message: error instanceof Error ? error.message : String(error) });

/** The field of an error: `ipAllow.0` and `ipAllow[0]` are about `ipAllow`, `branding.logo` is about `logo`. */
const fieldOf = (form: HTMLFormElement, param: string | null): string | null =>
  (param ?? '').split(/[.[\]]+/).find(part => part !== '' && form.elements.namedItem(part) !== null) ?? null;

/**
 * The fields hold their own values. An error is shown at the field that it names, which gets the focus, or else in
 * `FormError`.
 */
export const Form = ({
  onSubmit,
  children,
  label,
  className = 'form',
}: {
  onSubmit: (values: Values, form: HTMLFormElement) => Promise<unknown> | unknown;
  children: ReactNode;
  label?: string;
  className?: string;
}): ReactElement => {
  const [state, setState] = useState<FormState>({ isBusy: false, error: null, field: null });
  const isRunning = useRef(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ isBusy: true, error: null, field: null });
    try {
      await onSubmit(valuesOf(new FormData(form)), form);
      setState({ isBusy: false, error: null, field: null });
    } catch (thrown) {
      const error = asCallError(thrown);
      const field = fieldOf(form, error.param);
      setState({ isBusy: false, error, field });
      const control = field === null ? null : form.elements.namedItem(field);
      if (control instanceof HTMLElement) control.focus();
    } finally {
      isRunning.current = false;
    }
  };
  return (
    <form
      className={className}
      aria-label={label}
      onSubmit={event => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <FormContext value={state}>{children}</FormContext>
    </form>
  );
};

/** An error that belongs to no field. */
export const FormError = (): ReactElement | null => {
  const { error, field } = use(FormContext);
  return error === null || field !== null ? null : <ErrorBox error={error} />;
};

export const Submit = ({ children, kind = 'primary' }: { children: ReactNode; kind?: ButtonKind }): ReactElement => (
  <Button type="submit" kind={kind} isBusy={use(FormContext).isBusy}>
    {children}
  </Button>
);

/** The error message of this field; null if it has none. */
export const useFieldError = (name: string | undefined): string | null => {
  const { error, field } = use(FormContext);
  return error !== null && name !== undefined && field === name ? error.message : null;
};

import {
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';
import { useFieldError } from './form.tsx';

type Around = { label: ReactNode; hint?: ReactNode; error?: string | null; isLabelHidden?: boolean };
type Tied = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined };

/** Label above, hint and error below, linked to the control for screen readers. */
const Labelled = ({
  label,
  hint,
  error,
  name,
  isLabelHidden = false,
  children,
}: Around & { name: string | undefined; children: (tied: Tied) => ReactNode }): ReactElement => {
  const id = useId();
  const refused = useFieldError(name);
  const wrong = error ?? refused;
  const describedBy = [hint ? `${id}-hint` : '', wrong ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden ? 'quiet-label' : undefined}>
        {label}
      </label>
      {children({ id, 'aria-describedby': describedBy || undefined, 'aria-invalid': wrong ? true : undefined })}
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {wrong && (
        <p className="field-error" id={`${id}-error`}>
          {wrong}
        </p>
      )}
    </div>
  );
};

const inner = <Props extends Around>({
  label,
  hint,
  error,
  isLabelHidden,
  ...rest
}: Props): Omit<Props, keyof Around> => rest;

export const Field = (props: Around & InputHTMLAttributes<HTMLInputElement>): ReactElement => (
  <Labelled {...props} name={props.name}>
    {tied => <input autoComplete="off" {...inner(props)} {...tied} />}
  </Labelled>
);

export const TextArea = (props: Around & TextareaHTMLAttributes<HTMLTextAreaElement>): ReactElement => (
  <Labelled {...props} name={props.name}>
    {tied => <textarea rows={3} {...inner(props)} {...tied} />}
  </Labelled>
);

export const Select = ({
  options,
  ...props
}: Around &
  SelectHTMLAttributes<HTMLSelectElement> & {
    options: readonly { value: string; label: string }[];
  }): ReactElement => (
  <Labelled {...props} name={props.name}>
    {tied => (
      <select {...inner(props)} {...tied}>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

type Chosen = { label: ReactNode; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>;

const Choice = ({ label, hint, type, ...rest }: Chosen): ReactElement => {
  const id = useId();
  return (
    <div className="checkbox">
      <input type={type} id={id} aria-describedby={hint ? `${id}-hint` : undefined} {...rest} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
};

export const Checkbox = (props: Chosen): ReactElement => <Choice {...props} type="checkbox" />;
/** Several checkboxes or radio buttons that answer one question. */
export const Choices = ({ legend, children }: { legend: ReactNode; children: ReactNode }): ReactElement => (
  <fieldset className="choices">
    <legend>{legend}</legend>
    {children}
  </fieldset>
);

export type RadioOption<Value extends string> = {
  readonly value: Value;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
};

/** One choice out of a few. With `onChoose`, the caller keeps the choice and passes it as `chosen`. */
export const RadioChoices = <Value extends string>({
  legend,
  name,
  options,
  chosen,
  onChoose,
}: {
  legend: ReactNode;
  name: string;
  options: readonly RadioOption<Value>[];
  chosen: Value;
  onChoose?: (value: Value) => void;
}): ReactElement => (
  <Choices legend={legend}>
    {options.map(({ value, label, hint }) => (
      <Choice
        key={value}
        type="radio"
        name={name}
        value={value}
        label={label}
        hint={hint}
        {...(onChoose
          ? { checked: value === chosen, onChange: () => onChoose(value) }
          : { defaultChecked: value === chosen })}
      />
    ))}
  </Choices>
);

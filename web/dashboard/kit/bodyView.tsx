import { type ReactElement, useState } from 'react';
import { Button } from './button.tsx';
import { CodeBlock } from './codeBlock.tsx';

/** Null if the text is not JSON. */
const prettyOf = (text: string): string | null => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
};

/** A body, formatted or as it was sent. Formatting may round long numbers. */
export const BodyView = ({ text, label }: { text: string; label: string }): ReactElement => {
  const [isRaw, setRaw] = useState(false);
  const pretty = prettyOf(text);
  return (
    <div className="body-view">
      {pretty !== null && (
        <fieldset className="row">
          <legend className="quiet">{`Format of the ${label.toLowerCase()}`}</legend>
          <Button isSmall aria-pressed={!isRaw} onClick={() => setRaw(false)}>
            Pretty
          </Button>
          <Button isSmall aria-pressed={isRaw} onClick={() => setRaw(true)}>
            Raw
          </Button>
        </fieldset>
      )}
      {text === '' ? (
        <p className="muted">Empty</p>
      ) : (
        <CodeBlock code={isRaw || pretty === null ? text : pretty} label={label} />
      )}
    </div>
  );
};

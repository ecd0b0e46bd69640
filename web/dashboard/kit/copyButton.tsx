import { type ReactElement, useState } from 'react';
import { say } from './announce.tsx';
import { Icon } from './icon.tsx';

const feedbackMs = 2_000;

export const CopyButton = ({ text, what }: { text: string; what: string }): ReactElement => {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      say(`The browser blocked copying. Select the ${what} and copy it by hand.`, 'bad');
      return;
    }
    say(`Copied: ${what}.`);
    setCopied(true);
    setTimeout(() => setCopied(false), feedbackMs);
  };
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
};

/** An ID, address or hash. `isShort` shortens the shown text, but not the copied one. */
export const Copyable = ({
  text,
  what,
  isShort = false,
}: {
  text: string;
  what: string;
  isShort?: boolean;
}): ReactElement => (
  <span className="copyable">
    <code title={isShort ? text : undefined}>
      {isShort && text.length > 18 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text}
    </code>
    <CopyButton text={text} what={what} />
  </span>
);

import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from './icon.tsx';

/** The first field gets the focus. The browser would choose the close button. */
const firstField = '.dialog-body :is(input, select, textarea):not([hidden])';

/**
 * The browser's own dialog: it keeps the focus inside, closes on Escape, and returns the focus to the control that
 * opened it. The content is created at each opening, so that it never shows old input.
 */
export const Dialog = ({
  isOpen,
  onClose,
  title,
  children,
  isWide = false,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  isWide?: boolean;
}): ReactElement => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current!;
    if (isOpen && !element.open) {
      element.showModal();
      element.querySelector<HTMLElement>(firstField)?.focus();
    }
    if (!isOpen && element.open) element.close();
  }, [isOpen]);
  useEffect(() => {
    const element = dialog.current!;
    return () => element.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => isOpen && onClose()}
    >
      {isOpen && (
        <>
          <div className="dialog-head">
            <h2 id={id}>{title}</h2>
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          </div>
          <div className="dialog-body">{children}</div>
        </>
      )}
    </dialog>
  );
};

/** The buttons at the end of a form or dialog. The main button comes first in reading order and last on the screen. */
export const Buttons = ({ children }: { children: ReactNode }): ReactElement => (
  <div className="buttons">{children}</div>
);

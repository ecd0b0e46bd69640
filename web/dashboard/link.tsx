import type { AnchorHTMLAttributes, MouseEvent, ReactElement } from 'react';
import { hrefIn, navigate, useEnvironment } from './pageLocation.ts';

type Attributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'>;

/** The browser handles clicks with a modifier key or another mouse button. */
const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** A link to a page in the current environment. */
export const Link = ({ to, ...rest }: Attributes & { to: string }): ReactElement => (
  <AppLink href={hrefIn(useEnvironment(), to)} {...rest} />
);

/** A link to any page of the app, without a full reload. */
export const AppLink = ({ href, onClick, ...rest }: Attributes & { href: string }): ReactElement => (
  <a
    href={href}
    onClick={event => {
      onClick?.(event);
      if (event.defaultPrevented || !isPlainClick(event)) return;
      event.preventDefault();
      navigate(href);
    }}
    {...rest}
  />
);

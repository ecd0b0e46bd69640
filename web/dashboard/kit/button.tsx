import type { ButtonHTMLAttributes, ReactElement, ReactNode } from 'react';
import { Link } from '../link.tsx';
import { Icon, type IconName } from './icon.tsx';

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';
type Look = { kind?: ButtonKind; icon?: IconName; isSmall?: boolean };

const classes = ({ kind = 'plain', isSmall = false }: Look): string =>
  `button button-${kind}${isSmall ? ' button-small' : ''}`;

/** While busy it keeps its size and focus, and ignores clicks. */
export const Button = ({
  kind,
  icon,
  isSmall,
  isBusy = false,
  onClick,
  children,
  type = 'button',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & Look & { isBusy?: boolean; children: ReactNode }): ReactElement => (
  <button
    type={type}
    className={classes({ ...(kind ? { kind } : {}), ...(isSmall ? { isSmall } : {}) })}
    aria-disabled={isBusy || undefined}
    aria-busy={isBusy || undefined}
    onClick={event => {
      if (isBusy) event.preventDefault();
      else onClick?.(event);
    }}
    {...rest}
  >
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

/** Looks like a button and leads to a page. */
export const ButtonLink = ({
  to,
  children,
  icon,
  ...look
}: Look & { to: string; children: ReactNode }): ReactElement => (
  <Link to={to} className={classes(look)}>
    {icon && <Icon name={icon} />}
    {children}
  </Link>
);

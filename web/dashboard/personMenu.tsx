import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { call } from './client.ts';
import { say } from './kit/announce.tsx';
import { Icon } from './kit/icon.tsx';
import { Link } from './link.tsx';
import { forgetLists } from './money/lastList.ts';
import { base, navigate, outsideHref, usePageLocation } from './pageLocation.ts';
import { roleNames } from './roleNames.ts';
import { useSession } from './session.tsx';
import { keepTheme, keptTheme, type Theme, themes } from './theme.ts';

const themeNames: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' };

const ThemeSwitch = (): ReactElement => {
  const [theme, setTheme] = useState(keptTheme);
  return (
    <label className="theme-switch">
      Theme
      <select
        value={theme}
        onChange={event => {
          const chosen = event.target.value as Theme;
          keepTheme(chosen);
          setTheme(chosen);
        }}
      >
        {themes.map(each => (
          <option key={each} value={each}>
            {themeNames[each]}
          </option>
        ))}
      </select>
    </label>
  );
};

/** Opens another account. Nothing of the one before may be shown there, so the app starts anew. */
const AccountSwitch = (): ReactElement | null => {
  const { account, accounts } = useSession();
  if (accounts.length < 2) return null;
  const open = async (accountId: string): Promise<void> => {
    try {
      await call('POST /session/account', { body: { accountId } });
    } catch (error) {
      return say((error as Error).message, 'bad');
    }
    forgetLists();
    location.assign(base);
  };
  return (
    <label className="theme-switch">
      Account
      <select value={account.id} onChange={event => void open(event.target.value)}>
        {accounts.map(({ id, name, role }) => (
          <option key={id} value={id}>
            {name} ({roleNames[role]})
          </option>
        ))}
      </select>
    </label>
  );
};

export const PersonMenu = (): ReactElement => {
  const { person } = useSession();
  const { path } = usePageLocation();
  const client = useQueryClient();
  const box = useRef<HTMLDetailsElement>(null);
  const close = (): void => box.current?.removeAttribute('open');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes.
  useEffect(close, [path]);
  useEffect(() => {
    const onPress = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) box.current?.removeAttribute('open');
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    close();
    box.current?.querySelector('summary')?.focus();
  };
  const signOut = async (): Promise<void> => {
    try {
      await call('POST /sign-out');
    } catch {
      return say('Florin did not answer. You are still signed in. Try again.', 'bad');
    }
    client.clear();
    forgetLists();
    navigate(outsideHref('/sign-in'));
  };
  return (
    <details ref={box} className="person-menu" onKeyDown={onKeyDown}>
      <summary>
        <Icon name="person" />
        <span className="person-name">{person.name}</span>
        <span className="quiet">, your menu</span>
      </summary>
      <div className="person-panel">
        <p>
          <strong>{person.name}</strong>
          <span className="muted">{person.email}</span>
          <span className="muted">{roleNames[person.role]}</span>
        </p>
        <AccountSwitch />
        <Link to="/account">My account</Link>
        <ThemeSwitch />
        <button type="button" className="link-button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </details>
  );
};

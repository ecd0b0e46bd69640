import { type ReactElement, type ReactNode, Suspense, useEffect, useState } from 'react';
import type { Environment } from '../../src/core/environment.ts';
import { Announcements, useAreAnnouncementsKnown } from './announcements.tsx';
import { Button } from './kit/button.tsx';
import { Icon } from './kit/icon.tsx';
import { Loading } from './kit/states.tsx';
import { AppLink, Link } from './link.tsx';
import { hrefIn, keepEnvironment, usePageLocation } from './pageLocation.ts';
import { PersonMenu } from './personMenu.tsx';
import { type Route, routes } from './routes.ts';
import { useSession } from './session.tsx';

const groups = [
  ['money', 'Money'],
  ['build', 'Developers'],
  ['account', 'Account'],
] as const;

/** `/payments` is also current on `/payments/pay_1`. */
const isHere = (route: Route, path: string): boolean =>
  route.path === '/' ? path === '/' : path === route.path || path.startsWith(`${route.path}/`);

const Menu = ({ path }: { path: string }): ReactElement => {
  const { actions } = useSession();
  const seen = routes.filter(({ menu, action }) => menu !== null && (action === null || actions.includes(action)));
  return (
    <nav aria-label="Pages" className="menu">
      {groups.map(([group, title]) => {
        const links = seen.filter(({ menu }) => menu?.group === group);
        if (links.length === 0) return null;
        return (
          <div key={group} className="menu-group">
            <p className="menu-title" id={`menu-${group}`}>
              {title}
            </p>
            <ul aria-labelledby={`menu-${group}`}>
              {links.map(route => (
                <li key={route.path}>
                  <Link to={route.path} aria-current={isHere(route, path) ? 'page' : undefined}>
                    <Icon name={route.menu!.icon} />
                    {route.menu!.label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
};

/** IDs do not exist in the other environment, so only the first part of the path is kept. */
const samePage = (path: string): string => {
  const first = `/${path.split('/')[1] ?? ''}`;
  return routes.some(route => route.path === first) ? first : '/';
};

const EnvironmentSwitch = ({ environment, path }: { environment: Environment; path: string }): ReactElement => (
  <nav aria-label="Test or live" className="environment-switch">
    {(['sandbox', 'production'] as const).map(each => (
      <AppLink key={each} href={hrefIn(each, samePage(path))} aria-current={each === environment ? 'true' : undefined}>
        {each === 'sandbox' ? 'Test' : 'Live'}
      </AppLink>
    ))}
  </nav>
);

/** The coloured frame always shows whether the money is real. */
export const Shell = ({ environment, children }: { environment: Environment; children: ReactNode }): ReactElement => {
  const { path } = usePageLocation();
  const { account } = useSession();
  const areAnnouncementsKnown = useAreAnnouncementsKnown();
  const [isMenuOpen, openMenu] = useState(false);
  useEffect(() => keepEnvironment(environment), [environment]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes.
  useEffect(() => openMenu(false), [path, environment]);
  return (
    <div className="shell" data-environment={environment}>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <div className="frame" aria-hidden="true" />
      <header className="top-bar">
        <div className="menu-toggle">
          <Button
            kind="quiet"
            icon={isMenuOpen ? 'close' : 'menu'}
            aria-expanded={isMenuOpen}
            onClick={() => openMenu(!isMenuOpen)}
          >
            Menu
          </Button>
        </div>
        <Link to="/" className="brand">
          <span className="brand-mark" aria-hidden="true">
            F
          </span>
          <span className="brand-name">{account.name}</span>
        </Link>
        <EnvironmentSwitch environment={environment} path={path} />
        <PersonMenu />
      </header>
      <div className={isMenuOpen ? 'sidebar is-open' : 'sidebar'}>
        <Menu path={path} />
      </div>
      <main id="content" tabIndex={-1} className="content">
        <Announcements />
        <div className="content-body" hidden={!areAnnouncementsKnown}>
          <Suspense fallback={<Loading lines={8} />}>{children}</Suspense>
        </div>
      </main>
    </div>
  );
};

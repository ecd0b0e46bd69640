import { Component, type ReactElement, type ReactNode, Suspense, useEffect } from 'react';
import type { SignedIn } from '../../src/core/api/sessionApi.ts';
import { CallError } from './client.ts';
import { ConnectionNotice } from './connectionNotice.tsx';
import { Toasts } from './kit/announce.tsx';
import { ButtonLink } from './kit/button.tsx';
import { Page } from './kit/page.tsx';
import { Empty, ErrorBox, Loading } from './kit/states.tsx';
import { StepUp } from './kit/stepUp.tsx';
import {
  base,
  hrefIn,
  keptEnvironment,
  navigate,
  outsideHref,
  type PageLocation,
  usePageLocation,
} from './pageLocation.ts';
import { matchRoute, outsidePages } from './routes.ts';
import { SessionContext, useSessionState } from './session.tsx';
import { Shell } from './shell.tsx';

/** Shows an error in place of a page that throws, or whose file is gone after an update. */
class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };
  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }
  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    const message = 'This page could not be shown. Florin may have been updated since you opened it.';
    return <ErrorBox error={new CallError(null, { code: 'page_failed', message })} onRetry={() => location.reload()} />;
  }
}

const Redirect = ({ href }: { href: string }): null => {
  useEffect(() => navigate(href, { isReplacing: true }), [href]);
  return null;
};

const NotHere = (): ReactElement => (
  <Page title="Not found">
    <Empty title="This page does not exist" action={<ButtonLink to="/">Go home</ButtonLink>}>
      It may have moved, or your role has no access to it.
    </Empty>
  </Page>
);

const Inside = ({ place, session }: { place: PageLocation; session: SignedIn }): ReactElement => {
  if (place.environment === null) return <Redirect href={hrefIn(keptEnvironment(), '/')} />;
  const found = matchRoute(place.path);
  const isAllowed = found !== null && (found.route.action === null || session.actions.includes(found.route.action));
  // A new key for each path and environment, so that no state of one page is left on the next.
  const key = `${place.environment}${place.path}`;
  return (
    <SessionContext value={session}>
      <Shell environment={place.environment}>
        <Guard key={key}>
          {found !== null && isAllowed ? <found.route.Page key={key} params={found.params} /> : <NotHere />}
        </Guard>
      </Shell>
      <StepUp person={session.person} />
    </SessionContext>
  );
};

const Outside = ({ children }: { children: ReactNode }): ReactElement => (
  <main className="outside" id="content">
    <Guard>
      <Suspense fallback={<Loading lines={4} />}>{children}</Suspense>
    </Guard>
  </main>
);

const Content = (): ReactElement => {
  const place = usePageLocation();
  const session = useSessionState();
  const OutsidePage = place.environment === null ? outsidePages[place.path] : undefined;
  if (OutsidePage)
    return (
      <Outside>
        <OutsidePage params={{}} />
      </Outside>
    );
  if (session.isError && session.data === undefined)
    return (
      <Outside>
        <ErrorBox error={session.error} onRetry={session.refetch} />
      </Outside>
    );
  if (session.data === undefined) return <div className="starting" aria-busy="true" />;
  if (session.data.state === 'signed-in') return <Inside place={place} session={session.data} />;
  const next = location.pathname === base ? '' : `?next=${encodeURIComponent(location.pathname + location.search)}`;
  return <Redirect href={outsideHref(`/sign-in${next}`)} />;
};

export const App = (): ReactElement => (
  <>
    <Content />
    <ConnectionNotice />
    <Toasts />
  </>
);

import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { hasNavigated } from '../pageLocation.ts';
import { Icon, type IconName } from './icon.tsx';

/** A page's heading gets the focus when a person comes from another page, so that screen readers read it. */
export const Page = ({
  title,
  tabTitle = `${title} · Florin`,
  lead,
  actions,
  children,
}: {
  title: string;
  /** The title of the browser tab, if the heading is the same on several pages. */
  tabTitle?: string | undefined;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}): ReactElement => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = tabTitle;
  }, [tabTitle]);
  return (
    <>
      <div className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p className="page-lead">{lead}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </>
  );
};

/** A page without the shell: one card in the middle. */
export const OutsidePage = ({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}): ReactElement => (
  <div className="outside-card">
    <span className="brand-mark" aria-hidden="true">
      F
    </span>
    <Page title={title} lead={lead}>
      {children}
    </Page>
  </div>
);

export const Card = ({
  title,
  lead,
  actions,
  children,
}: {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}): ReactElement => (
  <section className="card">
    {title && (
      <div className="card-head">
        <div>
          <h2>{title}</h2>
          {lead && <p className="card-lead">{lead}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
    )}
    {children}
  </section>
);

/** Names and values. On narrow screens, each value is below its name. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }): ReactElement => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

type NoticeTone = 'info' | 'care' | 'good' | 'bad';
const noticeIcons: Readonly<Record<NoticeTone, IconName | null>> = {
  info: null,
  care: 'warning',
  good: 'check',
  bad: 'warning',
};

/** A message to read before going on. Only the tone `good` has a tick. */
export const Notice = ({ tone = 'info', children }: { tone?: NoticeTone; children: ReactNode }): ReactElement => {
  const icon = noticeIcons[tone];
  return (
    <div className={`notice notice-${tone}`}>
      {icon && <Icon name={icon} />}
      <div className="notice-body">{children}</div>
    </div>
  );
};

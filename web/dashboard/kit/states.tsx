import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import type { CallError } from '../client.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** Says that there is nothing to show, and what to do next. */
export const Empty = ({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}): ReactElement => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children && <p className="empty-text">{children}</p>}
    {action && <div className="empty-action">{action}</div>}
  </div>
);

/** A placeholder for an answer that is loading. */
export const Loading = ({ lines = 5, label = 'Loading' }: { lines?: number; label?: string }): ReactElement => (
  <div className="loading" role="status">
    <span className="quiet">{label}</span>
    {Array.from({ length: lines }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same.
      <div key={index} className="skeleton" />
    ))}
  </div>
);

export const ErrorBox = ({ error, onRetry }: { error: CallError; onRetry?: () => unknown }): ReactElement => (
  <div className="error-box" role="alert">
    <Icon name="warning" />
    <div>
      <p>{error.message}</p>
      {error.requestId && (
        <p className="error-request">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {onRetry && (
        <Button isSmall icon="refresh" onClick={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  </div>
);

/** Shows an answer, its loading state, or its error with a button to try again. */
export const Answer = <T,>({
  of,
  lines = 5,
  loading,
  children,
}: {
  of: UseQueryResult<T, CallError>;
  lines?: number;
  loading?: ReactNode;
  children: (answer: T) => ReactNode;
}): ReactElement => {
  if (of.data !== undefined)
    return (
      <>
        {of.isError && <ErrorBox error={of.error} onRetry={of.refetch} />}
        <div className={of.isPlaceholderData ? 'answer is-stale' : 'answer'}>{children(of.data)}</div>
      </>
    );
  if (of.isError) return <ErrorBox error={of.error} onRetry={of.refetch} />;
  return <>{loading ?? <Loading lines={lines} />}</>;
};

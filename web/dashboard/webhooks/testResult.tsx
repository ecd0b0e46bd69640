import type { ReactElement } from 'react';
import type { TestResult } from '../../../src/core/dashboard/setupApi.ts';
import { Notice } from '../kit/page.tsx';
import { durationText } from '../kit/time.tsx';

/** What came of an event that was sent at once. */
export const ShownResult = ({ result, what }: { result: TestResult; what: string }): ReactElement => (
  <Notice tone={result.delivered ? 'good' : 'care'}>
    <p role="status">
      {result.delivered ? (
        <>
          <strong>{what} was delivered.</strong> Your server answered {result.statusCode} after{' '}
          {durationText(result.durationMs)}.
        </>
      ) : (
        <>
          <strong>{what} was not delivered.</strong>{' '}
          {result.statusCode === null ? (
            <>There was no answer: {result.error ?? 'no reason is known'}.</>
          ) : (
            <>
              Your server answered {result.statusCode} after {durationText(result.durationMs)}. Only 2xx counts.
            </>
          )}
        </>
      )}
    </p>
  </Notice>
);

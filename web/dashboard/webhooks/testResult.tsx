import type { ReactElement } from 'react';
import type { ShownTestResult } from '../../../src/core/api/setupApi.ts';
import { Notice } from '../kit/page.tsx';
import { durationText } from '../kit/time.tsx';

/** The result of a test event. */
export const ShownResult = ({ result, what }: { result: ShownTestResult; what: string }): ReactElement => (
  <Notice tone={result.delivered ? 'good' : 'bad'}>
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
            <>There was no answer: {result.error ?? 'unknown reason'}.</>
          ) : (
            <>
              Your server answered {result.statusCode} after {durationText(result.durationMs)}. Only a 2xx answer counts
              as delivered.
            </>
          )}
        </>
      )}
    </p>
  </Notice>
);

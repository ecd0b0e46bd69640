import type { UnsweptRow } from '../../../src/core/api/moneyApi.ts';

/** An estimate is not exact, so it is shown with four digits only. */
const fourDigits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

/** The estimated fee, in the network's native coin. */
export const feeText = ({ gas }: Pick<UnsweptRow, 'gas'>): string =>
  gas === null || gas.costNative === null
    ? 'Unknown'
    : `${fourDigits.format(Number(gas.costNative))} ${gas.nativeCurrency}`;

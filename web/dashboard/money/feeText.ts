import type { UnsweptRow } from '../../../src/core/dashboard/moneyApi.ts';

/** An estimate is not exact to the last unit, so it is not shown as if it were. */
const fourDigits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

/** In the network's own coin, which pays for transactions. */
export const feeText = ({ gas }: Pick<UnsweptRow, 'gas'>): string =>
  gas === null || gas.costNative === null
    ? 'Unknown'
    : `${fourDigits.format(Number(gas.costNative))} ${gas.nativeCurrency}`;

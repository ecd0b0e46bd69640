/** A header field and how it is encoded: a number without leading zeros, or bytes as they are. */
export type HeaderField = { readonly name: string; readonly isNumber: boolean };

/**
 * The fields of a header in the order in which they are hashed. Forks only add fields at the end: a header has all
 * required fields, and optional ones up to its fork.
 */
export type HeaderFormat = {
  readonly name: string;
  readonly required: readonly HeaderField[];
  readonly optional: readonly HeaderField[];
};

const bytes = (name: string): HeaderField => ({ name, isNumber: false });
const number = (name: string): HeaderField => ({ name, isNumber: true });

const common: readonly HeaderField[] = [
  bytes('parentHash'),
  bytes('sha3Uncles'),
  bytes('miner'),
  bytes('stateRoot'),
  bytes('transactionsRoot'),
  bytes('receiptsRoot'),
  bytes('logsBloom'),
  number('difficulty'),
  number('number'),
  number('gasLimit'),
  number('gasUsed'),
  number('timestamp'),
  bytes('extraData'),
  bytes('mixHash'),
  bytes('nonce'),
];

/**
 * Ethereum, and the chains that hash their headers like it: Polygon, BSC, the OP Stack and Arbitrum. They put what is
 * their own into existing fields, and take over Ethereum's forks at their own times.
 */
const ethereum: HeaderFormat = {
  name: 'ethereum',
  required: common,
  optional: [
    // London
    number('baseFeePerGas'),
    // Shanghai
    bytes('withdrawalsRoot'),
    // Cancun
    number('blobGasUsed'),
    number('excessBlobGas'),
    bytes('parentBeaconBlockRoot'),
    // Prague
    bytes('requestsHash'),
  ],
};

/** Avalanche's C-Chain. */
const avalanche: HeaderFormat = {
  name: 'avalanche',
  required: [...common, bytes('extDataHash')],
  optional: [
    // Apricot Phase 3
    number('baseFeePerGas'),
    // Apricot Phase 4
    number('extDataGasUsed'),
    number('blockGasCost'),
    // Etna
    number('blobGasUsed'),
    number('excessBlobGas'),
    bytes('parentBeaconBlockRoot'),
    // Granite
    number('timestampMilliseconds'),
    number('minDelayExcess'),
    // Helicon
    number('targetExponent'),
    number('minPriceExponent'),
    number('settledHeight'),
    number('settledGasUnix'),
    number('settledGasNumerator'),
    number('settledExcess'),
  ],
};

/** The format of a header, by the fields that it has. */
export const formatOf = (fields: Readonly<Record<string, unknown>>): HeaderFormat =>
  'extDataHash' in fields ? avalanche : ethereum;

import type { AttemptVerdict } from './delivery.ts';

/** What the rooms count for the operator. Only numbers and fixed names: nothing that a client chooses. */
export type Meter = {
  /** One statement wrote this many payments. */
  createBatch(payments: number): void;
  deliveryAttempt(result: AttemptVerdict['kind']): void;
  /** A node gave no usable answer. `node` is its place in the configuration, from 0: its URL may contain a key. */
  rpcFault(caip2: string, node: number): void;
  /** Whether rate limits are counted together with other processes, or in this process alone. */
  limitsShared(isShared: boolean): void;
  /** A request was counted in this process alone, because the shared rate limits did not answer in time. */
  limitCountedAlone(): void;
};

/** For a process whose metrics nobody asked for. */
export const silentMeter: Meter = {
  createBatch() {},
  deliveryAttempt() {},
  rpcFault() {},
  limitsShared() {},
  limitCountedAlone() {},
};

import type { Journal } from './journal.ts';
import { type Send, sendOrThrow } from './provider.ts';

/** EDR can only revert to a snapshot. One is kept for each of this many newest blocks. */
const keptSnapshots = 300;

export const createSnapshots = (send: Send, journal: Journal) => {
  const lengths = new Map<unknown, number>();
  const byHeight: { readonly height: number; readonly id: unknown }[] = [];
  const take = async (): Promise<void> => {
    const head = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as { number: string };
    const id = await sendOrThrow(send, 'evm_snapshot', []);
    lengths.set(id, journal.length());
    byHeight.push({ height: Number(head.number), id });
    if (byHeight.length > keptSnapshots) lengths.delete(byHeight.shift()!.id);
  };
  return {
    /** Keeps the state after the newest block. */
    take,
    /** Adds a snapshot that a caller made. */
    register: (id: unknown) => void lengths.set(id, journal.length()),
    before: (height: number): unknown => byHeight.findLast(snapshot => snapshot.height === height - 1)?.id,
    /** EDR has reverted to this snapshot, deleted it and all later ones, and set its clock back. */
    async reverted(id: unknown): Promise<void> {
      await journal.revert(lengths.get(id) ?? journal.length());
      const head = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as { number: string };
      while ((byHeight.at(-1)?.height ?? -1) >= Number(head.number)) lengths.delete(byHeight.pop()!.id);
      await take();
    },
  };
};

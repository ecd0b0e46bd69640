import type { Journal } from './journal.ts';
import { type Send, succeed } from './provider.ts';

/** EDR can only go back to a state that it was told to keep. The last ones are, one a block. */
const keptStates = 300;

export const createStates = (send: Send, journal: Journal) => {
  const lengths = new Map<unknown, number>();
  const byHeight: { readonly height: number; readonly id: unknown }[] = [];
  const remember = async (): Promise<void> => {
    const head = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as { number: string };
    const id = await succeed(send, 'evm_snapshot', []);
    lengths.set(id, journal.length());
    byHeight.push({ height: Number(head.number), id });
    if (byHeight.length > keptStates) lengths.delete(byHeight.shift()!.id);
  };
  return {
    /** Keeps the state after the newest block. */
    remember,
    /** A state that somebody else had kept. */
    name: (id: unknown) => void lengths.set(id, journal.length()),
    before: (height: number): unknown => byHeight.findLast(state => state.height === height - 1)?.id,
    /** EDR has gone back to this state and forgotten it and all after it; it also set its clock back. */
    async reverted(id: unknown): Promise<void> {
      await journal.revert(lengths.get(id) ?? journal.length());
      const head = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as { number: string };
      while ((byHeight.at(-1)?.height ?? -1) >= Number(head.number)) lengths.delete(byHeight.pop()!.id);
      await remember();
    },
  };
};

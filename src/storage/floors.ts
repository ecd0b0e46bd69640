/** How far a row has come, which only goes up, and a hash of what it says there; null if that is not known. */
export type Version = { readonly number: bigint; readonly text: string | null };

/**
 * The latest versions that this process has seen. An earlier row has a genuine seal, so a seal cannot tell that it was put
 * back.
 */
export type Floors = {
  /** To be taken before a statement is sent that is held against the floors. */
  now(): number;
  of(name: string): Version | null;
  raise(name: string, version: Version): void;
  /**
   * Whether a version is from before what was seen. A statement that was under way when the floor was raised may have read
   * the row of before.
   */
  isEarlier(name: string, version: Version, began: number): boolean;
  /** After a restore that the operator declared, earlier rows are right. */
  forget(): void;
};

export const createFloors = (): Floors => {
  const floors = new Map<string, Version & { readonly raised: number }>();
  let raises = 0;
  return {
    now: () => raises,
    of: name => floors.get(name) ?? null,
    raise(name, { number, text }) {
      const floor = floors.get(name);
      if (floor === undefined || number > floor.number) floors.set(name, { number, text, raised: ++raises });
      else if (number === floor.number && floor.text === null) floors.set(name, { ...floor, text });
    },
    isEarlier(name, { number, text }, began) {
      const floor = floors.get(name);
      if (floor === undefined || floor.raised > began || number > floor.number) return false;
      return number < floor.number || (text !== null && floor.text !== null && text !== floor.text);
    },
    forget: () => floors.clear(),
  };
};

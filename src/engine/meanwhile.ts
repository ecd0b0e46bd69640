/**
 * Does work while the database is busy with a statement that was sent. Seals are made and checked so: with one row after the
 * other, half of the time of both would be spent waiting.
 */
export const meanwhile = async <S, T>(statement: Promise<S>, work: () => T): Promise<[S, T]> =>
  Promise.all([statement, (async () => work())()]);

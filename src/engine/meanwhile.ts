/**
 * Does work while the database is busy with a statement that was sent. Seals are made and checked so: with one row after the
 * other, half of the time of both would be spent waiting. Whatever fails, the statement is over when this ends: its
 * transaction must not end before it.
 */
export const meanwhile = async <S, T>(statement: Promise<S>, work: () => T): Promise<[S, T]> => {
  const [sent, worked] = await Promise.allSettled([statement, (async () => work())()]);
  if (sent.status === 'rejected') throw sent.reason;
  if (worked.status === 'rejected') throw worked.reason;
  return [sent.value, worked.value as T];
};

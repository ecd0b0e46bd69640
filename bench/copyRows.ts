import type pg from 'pg';

/** Methods of pg's connection that its types leave out. */
type CopyConnection = { query(text: string): void; sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void };

/** COPY in the text format: `lines` are rows of tab-separated columns, each with its line feed. */
export const copyRows = (client: pg.Client, into: string, lines: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const copying = {
      submit: (connection: unknown) => (connection as CopyConnection).query(`copy ${into} from stdin`),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(Buffer.from(lines));
        connection.endCopyFrom();
      },
      handleCommandComplete() {},
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    };
    client.query(copying);
  });

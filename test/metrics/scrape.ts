import { request } from 'node:http';
import type { Florin } from '../../src/cli/florin.ts';
import { type ParsedFamily, parseExposition } from './parseExposition.ts';

export type PlainAnswer = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
};

/** A request to the listener of the metrics, in plain HTTP. */
export const askMetrics = (
  { metricsPort }: Pick<Florin, 'metricsPort'>,
  path = '/metrics',
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<PlainAnswer> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: metricsPort!, path, agent: false, ...options }, async response => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      const { statusCode: status, headers } = response;
      resolve({ status: status!, headers, text: Buffer.concat(chunks).toString() });
    });
    asked.once('error', reject).end();
  });

export const scrape = async (florin: Pick<Florin, 'metricsPort'>): Promise<ParsedFamily[]> =>
  parseExposition((await askMetrics(florin)).text);

/** The value of a series; undefined if there is none. Labels that are not named may have any value. */
export const seriesValue = (
  families: readonly ParsedFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined =>
  families
    .flatMap(({ samples }) => samples)
    .find(
      sample =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value;

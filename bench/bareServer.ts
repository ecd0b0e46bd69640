import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/**
 * The fastest TLS server in Node: it sends prepared bytes, the same for every request or chosen by path. Arguments: a
 * PEM file, a file with the headers, and a file with the body or with a body for each path.
 */
const [pemFile, headFile, bodiesFile] = process.argv.slice(2) as [string, string, string];
const pem = readFileSync(pemFile, 'utf8');
const headers: Record<string, string> = JSON.parse(readFileSync(headFile, 'utf8'));
const texts: string | Record<string, string> = JSON.parse(readFileSync(bodiesFile, 'utf8'));
const only = typeof texts === 'string' ? Buffer.from(texts) : null;
const byPath = new Map(Object.entries(only ? {} : texts).map(([path, text]) => [path, Buffer.from(text)]));
const server = createServer({ key: pem, cert: pem }, (request, response) => {
  const body = only ?? byPath.get(request.url!)!;
  response.writeHead(200, { ...headers, 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
process.once('disconnect', () => process.exit(0));

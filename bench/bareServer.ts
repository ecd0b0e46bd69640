import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/** The least a TLS server in Node can do: the same bytes for every request. Arguments: PEM file, files with head and body. */
const [pemFile, headFile, bodyFile] = process.argv.slice(2) as [string, string, string];
const pem = readFileSync(pemFile, 'utf8');
const body = readFileSync(bodyFile);
const headers: Record<string, string> = JSON.parse(readFileSync(headFile, 'utf8'));
const server = createServer({ key: pem, cert: pem }, (_request, response) => {
  response.writeHead(200, { ...headers, 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
process.once('disconnect', () => process.exit(0));

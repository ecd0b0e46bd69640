import { createDecipheriv, scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { encodeAbiParameters, getContractAddress, keccak256 } from 'viem';
import { Fault } from './faults.mjs';

export const readPassphrase = async () => {
  if (process.env.FLORIN_RECOVERY_PASSPHRASE) return process.env.FLORIN_RECOVERY_PASSPHRASE;
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write('Passphrase: ');
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, ...(isTerminal ? { output, terminal: true } : {}) });
  lines.once('close', () => {
    if (isTerminal) process.stderr.write('\n');
  });
  // Ctrl-C ends the lines, too.
  for await (const line of lines) {
    // An input that stays open would keep the process.
    lines.close();
    return line;
  }
  throw new Fault('No passphrase was given.');
};

const readEnvelope = path => {
  try {
    const envelope = JSON.parse(readFileSync(path, 'utf8'));
    if (envelope.format === 'florin-recovery' && envelope.version === 1) return envelope;
  } catch (error) {
    if (error.code !== undefined) throw new Fault(`${path} cannot be read (${error.code}).`);
  }
  throw new Fault(`${path} is not a recovery file of version 1.`);
};

const decrypt = ({ kdf, cipher, data }, passphrase) => {
  try {
    const cost = { N: kdf.N, r: kdf.r, p: kdf.p, maxmem: 256 * kdf.N * kdf.r };
    const key = scryptSync(passphrase.normalize('NFKC'), Buffer.from(kdf.salt, 'hex'), 32, cost);
    // Without the length, a tag of four bytes would do, which a forger can guess.
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(cipher.iv, 'hex'), { authTagLength: 16 });
    decipher.setAuthTag(Buffer.from(cipher.tag, 'hex'));
    return [decipher.update(data, 'base64'), decipher.final()];
  } catch {
    throw new Fault('The passphrase is wrong, or the file is damaged.');
  }
};

/** The header and the payments. Nothing is used before the whole file has proved authentic. */
export const openFile = async (path, passphrase) => {
  const opened = decrypt(readEnvelope(path), passphrase);
  let header = null;
  const payments = [];
  for await (const line of createInterface({ input: Readable.from(opened).pipe(createGunzip()) })) {
    if (header === null) header = JSON.parse(line);
    else payments.push(JSON.parse(line));
  }
  return { header, payments };
};

/** Whether the address follows from treasury and salt, as the factory derives it. Otherwise it cannot be swept. */
const addressCheck = factory => {
  const code = getContractAddress({ from: factory.address, nonce: 1n }).slice(2).toLowerCase();
  const bytecodeHash = keccak256(`0x3d602b80600a3d3981f33615602a57363d3d373d3d363d73${code}5af4602a573d3dfd5b`);
  return ({ treasury, salt, address }) => {
    try {
      const bound = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [treasury, salt]));
      return getContractAddress({ opcode: 'CREATE2', from: factory.address, salt: bound, bytecodeHash }) === address;
    } catch {
      return false;
    }
  };
};

/** The payments that can be swept. The others are named. */
export const checkAddresses = (factory, payments, faults) => {
  const follows = addressCheck(factory);
  return payments.filter(payment => {
    const isSound = follows(payment);
    if (!isSound) faults.add(`${payment.id} is skipped: its address does not follow from its treasury and salt.`);
    return isSound;
  });
};

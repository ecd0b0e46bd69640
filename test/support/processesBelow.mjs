// Plain JavaScript: .ci/run uses it on the machine's own Node.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const readOrEmpty = read => {
  try {
    return String(read());
  } catch {
    return '';
  }
};

const linuxProcesses = () =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => ({
      pid: Number(pid),
      command: readOrEmpty(() => readFileSync(`/proc/${pid}/cmdline`)).replaceAll('\0', ' '),
      rest: [
        readOrEmpty(() => readFileSync(`/proc/${pid}/environ`)),
        readOrEmpty(() => readlinkSync(`/proc/${pid}/cwd`)),
      ].join(' '),
    }));

/** `-E` adds the environment of our own processes. */
const otherProcesses = () =>
  execFileSync('ps', ['-axwwE', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
    .split('\n')
    .map(line => /^ *(\d+) (.*)$/.exec(line))
    .filter(match => match !== null)
    .map(([, pid, command]) => ({ pid: Number(pid), command, rest: '' }));

/** Processes that mention a folder in their command line, environment or working directory; not the present one. */
export const processesBelow = folder =>
  (process.platform === 'linux' ? linuxProcesses() : otherProcesses()).filter(
    ({ pid, command, rest }) => pid !== process.pid && (command.includes(folder) || rest.includes(folder)),
  );

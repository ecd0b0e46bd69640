import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type Shell = {
  /** Runs a script in the shell, as if it was pasted there, and returns what it printed. Throws if a command fails. */
  run(script: string): Promise<string>;
  end(): void;
};

const mark = 'THE-SCRIPT-HAS-ENDED';

/** One shell for the whole page: variables of one step are those of the next. */
export const openShell = (room: string, values: Readonly<Record<string, string>>): Shell => {
  const child = spawn('bash', ['-s'], {
    cwd: '/root',
    env: { ...process.env, ...values },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let waiting: { resolve: (lines: string) => void; reject: (error: Error) => void; script: string } | null = null;
  let lines: string[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  createInterface({ input: child.stdout }).on('line', line => {
    if (!line.startsWith(mark)) return void lines.push(line);
    const { resolve, reject, script } = waiting!;
    // The mark has a line of its own, also after output that does not end one.
    const printed = lines.join('\n').trimEnd();
    const status = line.slice(mark.length + 1);
    if (status === '0') resolve(printed);
    else reject(new Error(`a block of the page ended with ${status}:\n${script}\n${printed}\n${errors}`));
  });
  child.once('close', () => waiting?.reject(new Error(`the shell ended in\n${waiting.script}\n${errors}`)));
  let count = 0;
  return {
    async run(script) {
      count += 1;
      const file = join(room, `block-${count}.sh`);
      // What would go unnoticed at a terminal must not do so here.
      await writeFile(file, `set -eo pipefail\n${script}`);
      [lines, errors] = [[], ''];
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject, script };
        child.stdin.write(
          `trap 'printf "\\n${mark} %s\\n" $?' EXIT; . ${file} < /dev/null; trap - EXIT; set +e; printf '\\n${mark} 0\\n'\n`,
        );
      });
    },
    end: () => void child.stdin.end(),
  };
};

import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export const podman = (...args: string[]): Ended => {
  const { status, stdout, stderr, error } = spawnSync('podman', args, { encoding: 'utf8' });
  if (error) throw new Error(`podman could not be started: ${error.message}`);
  return { code: status, stdout, stderr };
};

const answerOf = (...args: string[]): string => {
  const { code, stdout, stderr } = podman(...args);
  if (code !== 0) throw new Error(`podman ${args.slice(0, 3).join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
};

export type Container = {
  /** What a command in it prints. */
  exec(...command: string[]): string;
  logs(): string;
  waitUntilReady(): Promise<void>;
  /** As an operator stops it. Returns the exit code of the container. */
  stop(): number;
  /** Waits for its end. Returns the exit code. */
  ended(): number;
  kill(): void;
  startAgain(): void;
  remove(): void;
};

export type ContainerOptions = {
  readonly image: string;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly runOptions: readonly string[];
};

const readyTimeoutMs = 180_000;

/** As little as a container can have. Without a line in /etc/passwd, as with Docker and Kubernetes; podman would add one. */
const bare = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges', '--passwd=false', '--network=host'];

export const runContainer = (options: ContainerOptions): Container => {
  const { image, user, volumes, env, runOptions } = options;
  const settings = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const mounts = volumes.flatMap(volume => ['--volume', volume]);
  const id = answerOf('run', '--detach', ...bare, '--user', user, ...settings, ...mounts, ...runOptions, image);
  const exec = (...command: string[]): string => answerOf('exec', id, ...command);
  const state = (): { Running: boolean; ExitCode: number } =>
    JSON.parse(answerOf('inspect', '--format', '{{json .State}}', id));
  const logs = (): string => {
    const { stdout, stderr } = podman('logs', id);
    return `${stdout}${stderr}`;
  };
  return {
    exec,
    logs,
    async waitUntilReady() {
      const check = ['node', '/florin/deploy/image/healthCheck.mjs'];
      for (const endMs = performance.now() + readyTimeoutMs; performance.now() < endMs; await pause(250)) {
        if (!state().Running) throw new Error(`the container has ended:\n${logs()}`);
        if (podman('exec', id, ...check).code === 0) return;
      }
      throw new Error(`the container is not ready:\n${logs()}`);
    },
    stop() {
      answerOf('stop', '--time', '60', id);
      return state().ExitCode;
    },
    ended: () => Number(answerOf('wait', id)),
    kill: () => void answerOf('kill', '--signal', 'KILL', id),
    startAgain: () => void answerOf('start', id),
    remove: () => void podman('rm', '--force', '--time', '10', id),
  };
};

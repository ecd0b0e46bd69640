import type { Socket } from 'node:net';
import type { AuditLoss } from '../../engine/chain/restoreGate.ts';
import type { ServerTls } from '../../http/edge/secureServer.ts';
import type { Decision, Question } from '../../limits/turnBuckets.ts';
import type { Family } from '../../metrics/exposition.ts';
import type { ConnectionSettings } from '../../storage/connect.ts';
import type { AuditLook } from '../auditHeadsFile.ts';
import type { Config } from '../config.ts';
import type { Urls } from '../createContext.ts';
import type { Role } from '../parseSettings.ts';
import type { Installed } from './installed.ts';

/** One process under a supervisor. Its name is the same for the process that replaces it. */
export type Part = { readonly name: string; readonly roles: readonly Role[] };

/** What a process needs to begin. Contains secrets: it goes over a channel that only the two processes have. */
export type Begin = {
  readonly kind: 'begin';
  readonly name: string;
  /** What the supervisor runs. */
  readonly installed: Installed;
  /** With the roles of this process, and the ports that are bound. */
  readonly config: Config;
  /** With the keys of TLS tickets, so that clients resume their sessions with any process. */
  readonly tls: ServerTls;
  readonly service: ConnectionSettings;
  readonly holder: string;
  readonly auditLoss: AuditLoss;
  /** Null if no local chain runs here. */
  readonly chainUrl: string | null;
  readonly urls: Urls;
  readonly limitBudgetMs: number | undefined;
};

/** A connection, whose socket goes with the message. */
export type Connection = { readonly kind: 'connection'; readonly id: number; readonly port: number };

export type ToChild =
  | Begin
  | Connection
  | { readonly kind: 'decisions'; readonly decisions: readonly Decision[] }
  | { readonly kind: 'audit'; readonly look: AuditLook }
  | { readonly kind: 'measure'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown; readonly error: string | null }
  | { readonly kind: 'stop' };

/** What became of connections. `counted`: which count for their addresses from now on, or no more. */
export type ConnectionNews = {
  readonly taken: readonly number[];
  readonly closed: readonly number[];
  readonly counted: readonly (readonly [id: number, isCounted: boolean])[];
};

/** What only the process with the data directory can do. */
export type Wish = 'epoch' | 'lookForRestore';

export type Failure = { readonly message: string; readonly problems: readonly string[] | null };

export type ToSupervisor =
  /** From now on, its log says what happens to it. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'connections'; readonly news: ConnectionNews }
  | { readonly kind: 'questions'; readonly questions: readonly Question[] }
  | { readonly kind: 'ask'; readonly id: number; readonly wish: Wish }
  | { readonly kind: 'measured'; readonly id: number; readonly families: readonly Family[] };

/** Sends a message, and with it a socket, which both processes then have. */
export type Post<M> = (message: M, socket?: Socket) => void;

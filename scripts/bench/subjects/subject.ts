/** The subjects of the benchmark: gateways, and the vendor itself. */
import { Effect } from "effect"
import type { TestProcess } from "../../../test/support/processes.ts"
import type { Books } from "./ours.ts"

/**
 * The subjects in the order of the tables. Ours is compared first with `durable`, the bare proxy
 * with a minimal ledger. `direct` is the vendor without a gateway.
 */
export const subjectKinds = ["ours", "durable", "portkey", "bare", "fastify", "direct"] as const
/** `shared` is our gateway with several processes on one port. */
export type SubjectKind = (typeof subjectKinds)[number] | "shared"

export interface Subject {
  /** The name in the tables; processes of the same name share one row. */
  readonly name: string
  readonly kind: SubjectKind
  readonly url: string
  /** The path of its entry file. */
  readonly entry: string
  /** The processes of the subject; empty for the vendor, which runs on the core of the load. */
  readonly processes: ReadonlyArray<TestProcess>
  /** The ledger; only our gateway has one. */
  readonly books: Books | null
  /** The headers of every request to the subject. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The name of a model for clients of the subject. Only our gateway and the proxies rename models.
   */
  model(id: string): string
}

export const signal = ({ processes }: Subject, name: NodeJS.Signals): Effect.Effect<void> =>
  Effect.forEach(processes, (process) => process.kill(name), { discard: true })

/**
 * Resumes the subject for the duration of the work, then stops it again, so that it takes no CPU
 * time from the others.
 */
export const awake = <A, E, R>(
  subject: Subject,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    signal(subject, "SIGCONT"),
    () => work,
    () => signal(subject, "SIGSTOP")
  )

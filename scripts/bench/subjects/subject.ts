/** What is measured: gateways, and the vendor itself. */
import { Effect } from "effect"
import type { TestProcess } from "../../../test/support/processes.ts"
import type { Books } from "./ours.ts"

/**
 * In the order of the tables: ours is compared with `durable` first, the bare proxy with the least of
 * books. `direct` is the vendor with nobody in between.
 */
export const subjectKinds = ["ours", "durable", "portkey", "bare", "fastify", "direct"] as const
/** `shared` is ours on a port that gateways share. */
export type SubjectKind = (typeof subjectKinds)[number] | "shared"

export interface Subject {
  /** As the tables call it; two processes of one name are one row. */
  readonly name: string
  readonly kind: SubjectKind
  readonly url: string
  /** Path of its program. */
  readonly entry: string
  /** None where it is the vendor, which runs beside the load. */
  readonly processes: ReadonlyArray<TestProcess>
  /** Of our gateway alone. */
  readonly books: Books | null
  /** Of every request to it. */
  readonly headers: Readonly<Record<string, string>>
  /** As its clients name the model; only our gateway and the proxies rename it. */
  model(id: string): string
}

export const signal = ({ processes }: Subject, name: NodeJS.Signals): Effect.Effect<void> =>
  Effect.forEach(processes, (process) => process.kill(name), { discard: true })

/** Lets the subject run for the while, and stops it again, so that it takes nothing from others. */
export const awake = <A, E, R>(
  subject: Subject,
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    signal(subject, "SIGCONT"),
    () => work,
    () => signal(subject, "SIGSTOP")
  )

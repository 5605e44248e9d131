/** What is measured: gateways, and the vendor itself. */
import type { TestProcess } from "../../test/support/processes.ts"
import type { Books } from "./ours.ts"

/** `direct` is the vendor with nobody in between, `durable` the bare proxy with the least of books. */
export const subjectKinds = ["ours", "portkey", "fastify", "bare", "durable", "direct"] as const
export type SubjectKind = (typeof subjectKinds)[number]

export interface Subject {
  /** As the tables call it. */
  readonly name: string
  readonly kind: SubjectKind
  readonly url: string
  /** Null where it is the vendor, which runs beside the load. */
  readonly process: TestProcess | null
  /** Of our gateway alone. */
  readonly books: Books | null
  /** Of every request to it. */
  readonly headers: Readonly<Record<string, string>>
  /** As its clients name the model; only our gateway and the proxies rename it. */
  model(id: string): string
}

/** What a test does as the operator of a gateway, however that gateway is reached. */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import type { CallOptions, HttpAnswer } from "./http.ts"

/** A member of a fresh organisation, and the key to act as it. */
export interface Customer {
  readonly organizationId: string
  readonly memberId: string
  readonly key: string
}

export interface CustomerOptions {
  readonly monthlyCap?: string
  /** Further fields of the key. */
  readonly key?: Readonly<Record<string, unknown>>
}

const Created = Schema.Struct({ id: Schema.String })
const CreatedKey = Schema.Struct({ id: Schema.String, key: Schema.String })

/** Decodes an answer's body, or dies with the body in the message. */
export const bodyAs = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  answer: HttpAnswer
): Effect.Effect<S["Type"]> =>
  Effect.orDie(
    Effect.mapError(
      Schema.decodeUnknownEffect(schema)(answer.body),
      (error) => new Error(`${error.message} in ${answer.status} ${answer.text}`)
    )
  )

const Job = Schema.Struct({ upstream_id: Schema.NullOr(Schema.String) })

/**
 * Waits until the vendor has accepted the job of a task. A cancel before the vendor is called would
 * end the task without a job.
 */
export const awaitJob = (
  { admin }: { readonly admin: (path: string) => Effect.Effect<HttpAnswer> },
  id: string
) =>
  admin(`/tasks/${id}`).pipe(
    Effect.flatMap((answer) => bodyAs(Job, answer)),
    Effect.repeat({ until: ({ upstream_id }) => upstream_id !== null })
  )

/** The admin interface behind `call`, which takes a path and its whole options. */
export const makeOperator = (
  call: (path: string, options?: CallOptions) => Effect.Effect<HttpAnswer>,
  adminToken: string
) => {
  const admin = (path: string, options?: CallOptions) =>
    call(`/admin/v1${path}`, { key: adminToken, ...options })

  /** A fresh organisation holding `amount`, with one member and key. */
  const customer = Effect.fnUntraced(function* (amount: string, options: CustomerOptions = {}) {
    const organization = yield* bodyAs(
      Created,
      yield* admin("/organizations", { json: { name: "Test" } })
    )
    if (amount !== "0") {
      yield* admin(`/organizations/${organization.id}/deposits`, {
        json: { amount, reference: randomUUID() }
      })
    }
    const member = yield* bodyAs(
      Created,
      yield* admin(`/organizations/${organization.id}/members`, {
        json: { name: "tester", monthly_cap: options.monthlyCap ?? null }
      })
    )
    const { key } = yield* bodyAs(
      CreatedKey,
      yield* admin(`/members/${member.id}/keys`, { json: { name: "test", ...options.key } })
    )
    return { organizationId: organization.id, memberId: member.id, key } satisfies Customer
  })

  /** Dies unless every invariant of the books holds. */
  const verify = Effect.flatMap(admin("/ledger/verify"), (answer) =>
    answer.text === '{"ok":true,"violations":[]}'
      ? Effect.void
      : Effect.die(new Error(`the books are broken: ${answer.text}`))
  )

  return { admin, customer, verify }
}

/** A link opens its file for as long as those on whose behalf it was made may call: no longer, on any gateway. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { archiving, imageWith, inState, picture, bucket as s3 } from "../support/archives.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { moveTo } from "../support/orders.ts"

const Told = Schema.Struct({ data: Schema.Tuple([Schema.Struct({ url: Schema.String })]) })
const Created = Schema.Struct({ id: Schema.String })
const CreatedKey = Schema.Struct({ key: Schema.String })

const bytes = new Uint8Array(100).fill(7)

const linkFor = (key: string, id: string) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const answer = yield* gateway.call(`/v1/images/${id}`, { key })
    const [{ url }] = (yield* bodyAs(Told, answer)).data
    return url
  })

const statusOf = (url: string) =>
  Effect.promise(async () => {
    const answer = await fetch(url, { redirect: "manual" })
    await answer.arrayBuffer()
    return answer.status
  })

const colleagueOf = Effect.fnUntraced(function* ({ organizationId }: Customer) {
  const gateway = yield* Gateway
  const members = `/organizations/${organizationId}/members`
  const { id } = yield* bodyAs(Created, yield* gateway.admin(members, { json: { name: "b" } }))
  const made = yield* gateway.admin(`/members/${id}/keys`, { json: { name: "k" } })
  return { organizationId, memberId: id, key: (yield* bodyAs(CreatedKey, made)).key }
})

const setEnabled = (path: string, enabled: boolean) =>
  Effect.flatMap(Gateway, (gateway) => gateway.admin(path, { method: "PATCH", json: { enabled } }))

for (const [kind, archiveRedirect] of [
  ["embedded", false],
  ["postgres", true]
] as const) {
  layer(layerTestGateway(kind, { ...archiving, archiveRedirect }, { bucket: s3 }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`a link to a file (${kind})`, (it) => {
    it.effect("closes with its organisation, its member and its reader, and opens with them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const reader = yield* colleagueOf(who)
        const { id } = yield* imageWith(who, "", () => picture(bytes))
        yield* inState(id, "kept")
        const own = yield* linkFor(who.key, id)
        const read = yield* linkFor(reader.key, id)
        const open = archiveRedirect ? 302 : 200
        const both = Effect.all([statusOf(own), statusOf(read)])
        assert.deepStrictEqual(yield* both, [open, open])
        for (const [path, closed] of [
          [`/organizations/${who.organizationId}`, [401, 401]],
          [`/members/${who.memberId}`, [401, 401]],
          [`/members/${reader.memberId}`, [open, 401]]
        ] as const) {
          yield* setEnabled(path, false)
          assert.deepStrictEqual(yield* both, [...closed], path)
          yield* setEnabled(path, true)
          assert.deepStrictEqual(yield* both, [open, open], path)
        }
        yield* moveTo(null)
      })
    )
  })
}

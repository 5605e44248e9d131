/** Two operators edit the catalog: who comes second is told, and nothing of theirs is lost unseen. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CatalogDocument } from "../../src/domain/catalog/CatalogDocument.ts"
import { databasesInTurn } from "../support/databases.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"

const Made = Schema.Struct({ token: Schema.String })
const Changes = Schema.Struct({
  version: Schema.Int,
  changes: Schema.Struct({ models: Schema.Struct({ removed: Schema.Array(Schema.String) }) })
})

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `edits of the catalog (${kind})`,
    (it) => {
      it.effect("are made on the version that was read", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { token } = yield* bodyAs(
            Made,
            yield* gateway.admin("/operators", { json: { name: "Ada", role: "operator" } })
          )
          const read = yield* gateway.admin("/catalog")
          const etag = read.headers.get("etag") ?? ""
          assert.match(etag, /^"\d+"$/)
          const version = Number(etag.slice(1, -1))
          const document = Schema.decodeUnknownSync(CatalogDocument)(read.body)
          const [first] = document.models
          const smaller = Schema.encodeSync(CatalogDocument)({
            ...document,
            models: document.models.slice(1),
            mounts: document.mounts.filter(({ model }) => model !== first?.id)
          })
          const preview = yield* gateway.admin("/catalog/preview", { json: smaller })
          const { version: inForce, changes } = yield* bodyAs(Changes, preview)
          assert.deepStrictEqual([inForce, changes.models.removed], [version, [first?.id]])
          assert.strictEqual((yield* gateway.admin("/catalog")).headers.get("etag"), etag)

          const put = (key: string, ifMatch: string) =>
            gateway.call("/admin/v1/catalog", {
              method: "PUT",
              key,
              headers: { "if-match": ifMatch },
              json: smaller
            })
          const won = yield* put(token, etag)
          assert.strictEqual(won.status, 200, won.text)
          const lost = yield* put(token, etag)
          assert.strictEqual(lost.status, 412, lost.text)
          assert.strictEqual((yield* errorOf(lost)).code, "precondition_failed")
          assert.deepNestedInclude(lost.body, { "error.version": version + 1 })
          assert.match(
            lost.text,
            new RegExp(`"changed":\\[{"version":${version + 1},"by":"Ada","at":"20`)
          )
          assert.strictEqual((yield* put(token, "*")).status, 200)
          yield* gateway.call("/admin/v1/channels/ch-i/drain", { method: "POST", key: token })
          const drained = yield* put(token, `"${version + 2}"`)
          assert.include(drained.text, `"changed":[{"version":${version + 3},"by":"Ada"`)
          const nonsense = yield* put(token, "seven")
          assert.deepInclude(yield* errorOf(nonsense), { code: "invalid_request" })
          assert.strictEqual(
            (yield* gateway.admin("/catalog")).headers.get("etag"),
            `"${version + 3}"`
          )
        })
      )
    }
  )
}

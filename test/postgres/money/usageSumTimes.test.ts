/** The hours, days and months that orders are summed up in, where clocks change and months end. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { sumSteps } from "../../../src/domain/money/usageSums.ts"
import { UsageSums } from "../../../src/features/usage/UsageSums.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { Ledger } from "../../../src/services/Ledger.ts"
import { layerStoresOnServer, organization, usageOf } from "../../support/ledger.ts"

type Row = readonly [ordered: string, hour: string, day: string, month: string]

/** When an order was taken, and when the hour, day and month of it began. */
const times: Readonly<Record<string, ReadonlyArray<Row>>> = {
  UTC: [
    ["2026-01-31T23:59:59.999Z", "2026-01-31T23:00Z", "2026-01-31T00:00Z", "2026-01-01T00:00Z"],
    ["2026-02-01T00:00:00.000Z", "2026-02-01T00:00Z", "2026-02-01T00:00Z", "2026-02-01T00:00Z"],
    ["2028-02-29T12:00:00.000Z", "2028-02-29T12:00Z", "2028-02-29T00:00Z", "2028-02-01T00:00Z"]
  ],
  "Europe/Berlin": [
    // The month begins an hour before that of UTC.
    ["2026-01-31T22:59:59.999Z", "2026-01-31T22:00Z", "2026-01-30T23:00Z", "2025-12-31T23:00Z"],
    ["2026-01-31T23:00:00.000Z", "2026-01-31T23:00Z", "2026-01-31T23:00Z", "2026-01-31T23:00Z"],
    // A day of 23 hours.
    ["2026-03-29T00:59:59.000Z", "2026-03-29T00:00Z", "2026-03-28T23:00Z", "2026-02-28T23:00Z"],
    ["2026-03-29T01:00:00.000Z", "2026-03-29T01:00Z", "2026-03-28T23:00Z", "2026-02-28T23:00Z"],
    ["2026-03-29T22:00:00.000Z", "2026-03-29T22:00Z", "2026-03-29T22:00Z", "2026-02-28T23:00Z"],
    // An hour that comes twice is two.
    ["2026-10-25T00:30:00.000Z", "2026-10-25T00:00Z", "2026-10-24T22:00Z", "2026-09-30T22:00Z"],
    ["2026-10-25T01:30:00.000Z", "2026-10-25T01:00Z", "2026-10-24T22:00Z", "2026-09-30T22:00Z"],
    ["2026-10-31T23:00:00.000Z", "2026-10-31T23:00Z", "2026-10-31T23:00Z", "2026-10-31T23:00Z"]
  ],
  "Asia/Shanghai": [
    ["2026-10-31T15:59:59.999Z", "2026-10-31T15:00Z", "2026-10-30T16:00Z", "2026-09-30T16:00Z"],
    ["2026-10-31T16:00:00.000Z", "2026-10-31T16:00Z", "2026-10-31T16:00Z", "2026-10-31T16:00Z"]
  ],
  // Clocks that are half an hour off.
  "Asia/Kolkata": [
    ["2026-12-31T18:29:59.000Z", "2026-12-31T17:30Z", "2026-12-30T18:30Z", "2026-11-30T18:30Z"],
    ["2026-12-31T18:30:00.000Z", "2026-12-31T18:30Z", "2026-12-31T18:30Z", "2026-12-31T18:30Z"]
  ]
}

for (const [timeZone, rows] of Object.entries(times)) {
  const settings = Layer.succeed(Settings, { ...defaultSettings, timeZone })
  layer(Layer.provide(layerStoresOnServer(), settings), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the times of ${timeZone}`, (it) => {
    it.effect.each([...rows])("%s", ([ordered, ...begins]) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ledger = yield* Ledger
        const sums = yield* UsageSums
        const { organizationId, hold, close } = yield* organization(10n)
        const request = hold(1n)
        yield* ledger.hold(request)
        yield* sql`UPDATE orders SET created_at = ${ordered}::timestamptz WHERE id = ${request.id}`
        yield* ledger.capture({ ...close(request.id), chargeNano: 1n, usage: usageOf(1n) })
        const any = { memberId: null, keyId: null, model: null, channelId: null, tag: null }
        for (const [index, step] of sumSteps.entries()) {
          const begin = new Date(begins[index] ?? "")
          // From the last moment that is in it, so that it is found from everywhere in it.
          const lines = yield* sums.read({
            step,
            by: null,
            from: new Date(ordered),
            to: new Date(begin.getTime() + 1),
            filter: { ...any, organizationId },
            afterName: null,
            limit: 9
          })
          assert.deepStrictEqual(
            lines.map(({ start }) => start),
            [begin],
            step
          )
        }
        assert.deepStrictEqual(yield* ledger.verifyOf([organizationId]), [])
      })
    )
  })
}

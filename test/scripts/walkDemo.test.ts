import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { startProcess } from "../support/processes.ts"

const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

/** Ends the walk in its own way, so that a demo it started ends with it. */
const walk = (env: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const process = yield* startProcess({ entry: pathOf("scripts/walk-demo.ts"), env })
    yield* Effect.addFinalizer(() =>
      Effect.andThen(process.kill("SIGTERM"), Effect.timeoutOption(process.end, "10 seconds"))
    )
    const { code } = yield* process.end
    return { code, lines: process.stdout().split("\n"), stderr: process.stderr() }
  })

it.live(
  "the walk starts a demo, and every model of it goes from create to charge",
  () =>
    Effect.gen(function* () {
      const { code, lines, stderr } = yield* walk({})
      assert.strictEqual(code, 0, [...lines, stderr].join("\n"))
      const [, ...rows] = lines.slice(0, lines.indexOf(""))
      const cells = rows.map((row) => row.split(/ {2,}/))
      assert.deepStrictEqual(
        cells.map(([model = "", , , hold = "", charge = "", , state = ""]) => [
          model,
          hold,
          charge,
          state
        ]),
        [
          ["film-1", "4.968", "5.0094", "succeeded"],
          ["clip-1", "3", "3", "succeeded"],
          ["paint-1", "-", "0.2", "succeeded"],
          ["film-2", "4.968", "5.0094", "succeeded"],
          ["motion-1", "2.5", "2.5", "succeeded"],
          ["scene-1", "3", "3", "succeeded"],
          ["shot-1", "1.6", "1.6", "succeeded"],
          ["reel-1", "0.4", "0.4", "succeeded"],
          ["paint-2", "-", "0.25", "succeeded"],
          ["relay-film", "4.968", "5.0094", "succeeded"],
          ["relay-clip", "3", "3", "succeeded"],
          ["relay-motion", "2.5", "2.5", "succeeded"],
          ["relay-scene", "3", "3", "succeeded"],
          ["relay-paint", "-", "0.25", "succeeded"],
          ["relay-sketch", "-", "0.15", "succeeded"],
          ["sketch-1", "-", "0.154824", "succeeded"],
          ["talk-1", "-", "0.000144", "succeeded"],
          ["talk-2", "-", "0.000144", "succeeded"],
          ["look-1", "-", "0.000423", "succeeded"],
          ["vector-1", "-", "0.0000025", "succeeded"],
          ["rank-1", "-", "0.0000096", "succeeded"],
          ["voice-1", "-", "0.002", "succeeded"],
          ["voice-2", "-", "0.002", "succeeded"],
          ["voice-3", "-", "0.002", "succeeded"],
          ["listen-1", "-", "0.0002", "succeeded"],
          ["listen-2", "-", "0.0002", "succeeded"],
          ...["film-1.0", "film-1.5"].map((id) => [id, "4.968", "4.775628", "succeeded"]),
          ...["film-2.0-fast", "film-2.0-mini", "film-2.5"].map((id) => [
            id,
            "4.968",
            "5.0094",
            "succeeded"
          ]),
          ...["o1", "3.0", "3.0-turbo", "2.6", "2.5-turbo"].map((model) => [
            `clip-${model}`,
            "3",
            "3",
            "succeeded"
          ]),
          ...["turbo", "fast", "mix", "reference"].map((model) => [
            `motion-1-${model}`,
            "2.5",
            "2.5",
            "succeeded"
          ]),
          ...[
            "2.6-image",
            "2.6-flash",
            "2.6-reference",
            "2.6-reference-flash",
            "2.7",
            "2.7-image",
            "2.7-reference",
            "3.0"
          ].map((model) => [`scene-${model}`, "3", "3", "succeeded"]),
          ...["shot-1-fast", "shot-1-lite", "shot-0", "shot-0-fast"].map((id) => [
            id,
            "0.48",
            "0.48",
            "succeeded"
          ]),
          ["sketch-0", "-", "0.154824", "succeeded"],
          ["reel-1-max", "0.4", "0.4", "succeeded"],
          ["clip-9", "3", "3", "succeeded"],
          ["clip-9-image", "3", "3", "succeeded"],
          ["clip-9-shots", "3", "3", "succeeded"],
          ["clip-9-shots-image", "3", "3", "succeeded"],
          ["clip-9-long", "3", "3", "succeeded"],
          ["clip-9-long-image", "3", "3", "succeeded"],
          ["paint-9", "-", "0.1", "succeeded"],
          ["upscale-9", "-", "0.2", "succeeded"],
          ["clip-10", "3", "3", "succeeded"],
          ["clip-10-frames", "3", "3", "succeeded"],
          ["paint-10", "-", "0.02", "succeeded"],
          ["upscale-10", "-", "0.05", "succeeded"]
        ]
      )
      assert.includeMembers(lines, ["The ledger verifies."])
    }).pipe(Effect.scoped),
  120_000
)

it.live(
  "the walk of a running demo tells which model failed, and ends with 1",
  () =>
    Effect.gen(function* () {
      const demo = yield* startProcess({
        entry: shippedEntry,
        env: {
          GATEWAY_DEMO: "1",
          DATA_DIR: yield* temporaryDataDir({ initialised: true }),
          PORT: "0",
          GATEWAY_SIMULATOR_PORT: "0",
          GATEWAY_ASK_INTERVAL_SECONDS: "0.1"
        }
      })
      yield* demo.waitForLine(/^curl .*images\/generations/)
      const find = (pattern: RegExp) => pattern.exec(demo.stdout())?.[1] ?? ""
      const url = find(/gateway {6}(http:\S+)/)
      const adminToken = find(/admin token {2}(\S+)/)

      const { channels, models, mounts } = demoCatalog(find(/simulator {4}(http:\S+)/))
      const changed = yield* call(`${url}/admin/v1/catalog`, {
        key: adminToken,
        method: "PUT",
        json: {
          channels,
          models: models.slice(0, 3),
          mounts: mounts.filter(({ model }) => model === "film-1" || model === "paint-1")
        }
      })
      assert.strictEqual(changed.status, 200, changed.text)

      const { code, lines, stderr } = yield* walk({
        GATEWAY_URL: `${url}/`,
        GATEWAY_KEY: find(/API key {6}(mg_\S+)/)
      })
      assert.strictEqual(code, 1)
      assert.match(stderr, /1 of 3 models failed/)
      const [, film = "", clip = "", paint = ""] = lines
      assert.match(film, /^film-1 .* 4\.968 +5\.0094 .* succeeded$/)
      assert.match(clip, /^clip-1 .*failed: HTTP 503: .*channel_unavailable/)
      assert.match(paint, /^paint-1 .* 0\.2 .* succeeded$/)
    }).pipe(Effect.scoped),
  120_000
)

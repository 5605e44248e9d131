/** The times a vendor has, as the README of the adapters tells them. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { layerVendorLimits, VendorLimits } from "../../src/adapters/wire/limits.ts"
import { defaultSettings } from "../../src/runtime/Settings.ts"
import { read, rowsOf } from "./documents.ts"

const [, chapter = ""] = read("src/adapters/README.md").split("## How long a vendor may take")
const rows = rowsOf(chapter.split("\n**")[0] ?? "")

it.effect("the table of times is that of the limits and the settings", () =>
  Effect.gen(function* () {
    const { submit, poll, image, text, stream } = yield* VendorLimits
    const seconds = (...times: ReadonlyArray<Duration.Duration>) =>
      times.map((time) => Duration.toSeconds(time))
    const told = rows.map(([, deadline = "", vendor = ""]) => ({
      deadline: Number(/\d+$/.exec(deadline)?.[0]),
      vendor: [...vendor.matchAll(/(\d+) s\b/g)].map(([, time]) => Number(time))
    }))
    assert.deepStrictEqual(told, [
      { deadline: defaultSettings.submitDeadlineSeconds, vendor: seconds(submit.timeout) },
      { deadline: defaultSettings.leaseSeconds, vendor: seconds(poll.timeout) },
      { deadline: defaultSettings.imageDeadlineSeconds, vendor: seconds(image.timeout) },
      { deadline: defaultSettings.textDeadlineSeconds, vendor: seconds(text.timeout) },
      {
        deadline: defaultSettings.textStreamDeadlineSeconds,
        vendor: seconds(stream.timeout, stream.firstBytesTimeout, stream.idleTimeout)
      }
    ])
  }).pipe(Effect.provide(layerVendorLimits))
)

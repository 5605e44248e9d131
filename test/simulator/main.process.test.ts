import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { read, send } from "./support.ts"

const main = fileURLToPath(new URL("../../src/simulator/simulatorMain.ts", import.meta.url))

/** A simulator in a process of its own, once it has said where it listens. */
const started = (bookPath: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(process.execPath, [main], {
        env: { ...process.env, GATEWAY_SIMULATOR_PORT: "0", SIMULATOR_BOOK: bookPath },
        stdio: ["ignore", "pipe", "inherit"]
      })
      const exit = once(child, "exit")
      const [line] = await once(child.stdout.setEncoding("utf8"), "data")
      const url = /^The vendor simulator listens on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)?.[1]
      return { child, exit, url: url ?? assert.fail(line) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "simulator-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const path = "/vp_a/api/v3/contents/generations/tasks"
const order = (prompt: string) => ({ model: "m", content: [{ type: "text", text: prompt }] })

const post = (url: string, prompt: string) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer good-key" },
    body: JSON.stringify(order(prompt))
  })

it.effect("what was answered or lost before a kill is in the book of the next run", () =>
  Effect.gen(function* () {
    const bookPath = join(yield* folder, "book.jsonl")
    const { child, exit, url } = yield* started(bookPath)
    const text = yield* Effect.promise(async () => {
      const answer = await (await post(url, "x")).text()
      assert.isUndefined(await post(url, "x sim:lost").catch(() => undefined))
      child.kill("SIGKILL")
      await exit
      return answer
    })

    const { id } = read(Schema.Struct({ id: Schema.String }), { text })
    yield* Effect.gen(function* () {
      const entries = yield* (yield* Simulator).book
      assert.deepStrictEqual(
        entries.map(({ event }) => event),
        ["accepted", "accepted"]
      )
      assert.strictEqual((yield* send("GET", `${path}/${id}`)).status, 200)
    }).pipe(Effect.provide(layerSimulator({ port: 0, bookPath })))
  })
)

it.effect("a process stops when asked to, even with an order that hangs", () =>
  Effect.gen(function* () {
    const bookPath = join(yield* folder, "book.jsonl")
    const { child, exit, url } = yield* started(bookPath)
    yield* Effect.promise(async () => {
      const hanging = post(url, "x sim:hang").catch(() => undefined)
      const booked = async () => (await (await fetch(`${url}/_sim/book`)).text()).includes("hang")
      while (!(await booked())) await new Promise(setImmediate)
      child.kill("SIGTERM")
      await Promise.all([exit, hanging])
    })
    assert.isNull(child.signalCode)
  })
)

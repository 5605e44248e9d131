/** The README's section on clients, run as it stands there against a gateway on the demo catalog. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"

const root = join(import.meta.dirname, "..", "..")
const readme = readFileSync(join(root, "README.md"), "utf8")
const section = /^## First calls\n([\s\S]*?)^## /m.exec(readme)?.[1] ?? ""

/** Blocks of code by their language, in their order. */
const blocks = (language: string): ReadonlyArray<string> =>
  [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? "")

/** Runs a program at the package's root; dies unless it ends well. */
const run = (command: string, args: ReadonlyArray<string>, key: string): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, GATEWAY_KEY: key } })
    const out: Array<string> = []
    const keep = (piece: Buffer) => out.push(piece.toString())
    child.stdout.on("data", keep)
    child.stderr.on("data", keep)
    child.once("error", (error) => resume(Effect.die(error)))
    child.once("close", (code) => {
      const text = out.join("")
      resume(
        code === 0 ? Effect.succeed(text) : Effect.die(new Error(`ended with ${code}: ${text}`))
      )
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** The block with the gateway's real address in it, and a key to call it with. */
const prepared = Effect.fnUntraced(function* (language: string, index: number) {
  const gateway = yield* Gateway
  const customer = yield* gateway.customer("100")
  const block = blocks(language)[index] ?? ""
  assert.include(block, "http://127.0.0.1:8080")
  return { code: block.replaceAll("http://127.0.0.1:8080", gateway.url), customer }
})

const layerDemoGateway = layerTestGateway("postgres", quickSettings, { catalogFor: demoCatalog })

it("the README names every variable there is", () => {
  const sources = ["config.ts", "secrets.ts", "main.ts"].map((file) =>
    readFileSync(join(root, "src", file), "utf8")
  )
  const named = new Set(sources.join("\n").match(/"(?:GATEWAY_\w+|HOST|PORT|DATA\w+)"/g) ?? [])
  assert.isAtLeast(named.size, 20)
  assert.deepStrictEqual(
    [...named].filter((name) => !readme.includes(`\`${name.slice(1, -1)}\``)),
    []
  )
})

layer(layerDemoGateway, { excludeTestServices: true, timeout: "60 seconds" })(
  "the README's first calls",
  (it) => {
    it.effect("with curl order a video, an image and a text, and say what they cost", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { code, customer } = yield* prepared("sh", 1)
        // A refusal ends the run, where a reader would see it.
        const strict = code
          .replaceAll(/^curl -s/gm, "curl -sSf")
          .replaceAll("$(curl -s ", "$(curl -sSf ")
        const said = yield* run("bash", ["-euo", "pipefail", "-c", strict], customer.key)
        assert.include(said, '"hold":"4.968"')
        assert.include(said, "event: video.succeeded")
        assert.include(said, '"completion_tokens":108900')
        assert.include(said, "data: [DONE]")
        assert.include(said, '"object":"receipt"')
        assert.isBelow(Number((yield* gateway.balance(customer)).balance), 94.8)
      })
    )

    it.effect("with the openai package make all of them, and show an error", () =>
      Effect.gen(function* () {
        const { code, customer } = yield* prepared("js", 0)
        const said = yield* run(process.execPath, ["--input-type=module", "-e", code], customer.key)
        const lines = said.trim().split("\n")
        assert.match(lines[0] ?? "", /^http:\/\/127/)
        assert.isAbove((lines[1] ?? "").length, 0)
        assert.deepStrictEqual(
          [lines[2], lines[3]?.split(" ")[0], lines[4]],
          ["2", "succeeded", "400 invalid_request n"]
        )
      })
    )

    it.effect("with a key of its own for each order, are paid once", () =>
      Effect.gen(function* () {
        const { code, customer } = yield* prepared("js", 1)
        const said = yield* run(process.execPath, ["--input-type=module", "-e", code], customer.key)
        assert.strictEqual(said, "1\n")
      })
    )

    it.effect("with the typed client order what the refusal names, and wait for it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { code, customer } = yield* prepared("ts", 0)
        const args = [
          "--conditions=media-gateway-source",
          "--input-type=module-typescript",
          "-e",
          code
        ]
        assert.strictEqual(yield* run(process.execPath, args, customer.key), "succeeded\n")
        const usage = yield* gateway.call("/v1/usage", { key: customer.key })
        assert.include(usage.text, '"modality":"video"')
      })
    )

    it.each([
      ["typedClient.ts", 0],
      ["doubles.test.ts", 1]
    ] as const)("show %s, which is checked with the other sources", (file, index) => {
      const checked = readFileSync(join(import.meta.dirname, file), "utf8")
      assert.strictEqual(blocks("ts")[index], checked)
    })
  }
)

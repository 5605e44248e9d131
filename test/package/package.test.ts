/** The package as it would be installed: what is in it, what its types say, and a newcomer's first hour. */
import { execFile } from "node:child_process"
import {
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join, relative } from "node:path"
import { promisify } from "node:util"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { publint } from "publint"
import { Installed, installedWithIt, layerInstalled } from "../support/installedPackage.ts"
import { startProcess } from "../support/processes.ts"

const root = join(import.meta.dirname, "..", "..")
const MEBIBYTE = 1024 ** 2
/** For compilers and processes on a machine that has other work. */
const LOADED_MILLIS = 180_000

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const ELF = "\x7fELF"
const beginOf = (file: string): string => {
  const bytes = Buffer.alloc(ELF.length)
  readSync(openSync(file, "r"), bytes)
  return bytes.toString("latin1")
}

/** A program that uses all that the package offers, and knows when a type has gone missing. */
const consumer = `
import { Effect } from "effect"
import { createMediaGateway } from "media-gateway/ai-sdk"
import { MediaGateway, waitForVideo } from "media-gateway/client"
import { makeClient } from "media-gateway/client/promise"
import { builtInProtocols, layerGateway } from "media-gateway/extend"
import manifest from "media-gateway/package.json"
import { layerGatewayTesting, TestingGateway } from "media-gateway/testing"

export const name: string = manifest.name
export const model: string = createMediaGateway({ apiKey: "mg_x" }).videoModel("film-1").modelId
export const extended = [builtInProtocols.video.size, layerGateway]
export const client = Effect.map(MediaGateway, (gateway) => [gateway, waitForVideo])
export const balance: Promise<{ readonly available: string }> = makeClient({
  baseUrl: "http://127.0.0.1",
  apiKey: "mg_x"
}).account.balance()
export const testing = Effect.gen(function* () {
  const { status } = yield* (yield* TestingGateway).call("/v1/models")
  const right: number = status
  // @ts-expect-error a number
  const wrong: string = status
  return [right, wrong]
}).pipe(Effect.provide(layerGatewayTesting()))
`

const compile = (folder: string, module: string, moduleResolution: string) =>
  Effect.promise(async () => {
    const options = ["--module", module, "--moduleResolution", moduleResolution]
    const fixed = ["--noEmit", "--strict", "--target", "es2024", "--resolveJsonModule"]
    const single = ["--checkers", "1"]
    // What is declared says the same to both, so one of them reads all of it.
    const lean = String(moduleResolution === "bundler")
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc")
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        tsc,
        ...fixed,
        ...single,
        "--types",
        "node",
        "--skipLibCheck",
        lean,
        ...options,
        "consumer.ts"
      ],
      { cwd: folder }
    ).catch((failure: { readonly stdout: string }) => failure)
    return stdout.split("\n").filter((line) => /^\S.*error TS/.test(line))
  })

/** Of others, and none of a consumer's who has the types of that package too. */
const knownFaults = /@ai-sdk\/provider\/dist\/index\.d\.ts.* module 'json-schema'/

layer(layerInstalled, { timeout: LOADED_MILLIS, excludeTestServices: true })(
  "the installed package",
  (it) => {
    it.effect("holds what is needed to run it, and nothing that was only needed to make it", () =>
      Effect.gen(function* () {
        const installed = yield* Installed
        const names = filesBelow(installed.package).map((file) => relative(installed.package, file))
        assert.includeMembers(names, [
          "README.md",
          "LICENSE",
          "package.json",
          "dist/main.js",
          "dist/console/index.html",
          "dist/postgres/embedded/embeddedWorker.js",
          "dist/simulator/media/sunset.mp4",
          "dist/client/typedClient.d.ts"
        ])
        const scripts = globSync("{postgres/schema,features/*}/*.sql", { cwd: join(root, "src") })
        assert.isNotEmpty(scripts)
        assert.includeMembers(
          names,
          scripts.map((name) => `dist/${name}`)
        )
        const strange = names.filter(
          (name) => /\.map$|\.tsx?$|test|\/\./.test(name) && !/\.d\.ts$|^dist\/testing\//.test(name)
        )
        assert.deepStrictEqual(strange, [])
        const texts = names.filter((name) => /\.(?:js|ts|json|html|css|md|sql)$/.test(name))
        const local = texts.filter((name) => {
          const text = readFileSync(join(installed.package, name), "utf8")
          return text.includes(root) || text.includes("sourceMappingURL=")
        })
        assert.deepStrictEqual(local, [])
      })
    )

    it.effect("is small, and bound to no processor", () =>
      Effect.gen(function* () {
        const { folder } = yield* Installed
        const files = filesBelow(folder)
        const sizes = files.map((file) => statSync(file))
        // What a disk with blocks of 4 KiB gives them; their bytes alone are a fifth less.
        const kept = sizes.reduce((sum, { blocks }) => sum + blocks * 512, 0)
        assert.isAtMost(kept / MEBIBYTE, 150)
        assert.deepStrictEqual(
          files.filter((file) => file.endsWith(".node") || beginOf(file) === ELF),
          []
        )
        const bound = installedWithIt().filter(
          ([, { os, cpu }]) => os !== undefined || cpu !== undefined
        )
        assert.deepStrictEqual(bound, [])
      })
    )

    it.effect("has nothing that publint or arethetypeswrong object to", () =>
      Effect.gen(function* () {
        const { tarball } = yield* Installed
        const bytes = new Uint8Array(readFileSync(tarball))
        const { messages } = yield* Effect.promise(() =>
          publint({ pack: { tarball: bytes.buffer }, strict: true })
        )
        assert.deepStrictEqual(messages, [])
        const found = yield* Effect.promise(() => checkPackage(createPackageFromTarballData(bytes)))
        if (found.types === false) return assert.fail("it has no types")
        assert.includeMembers(Object.keys(found.entrypoints), [
          "./ai-sdk",
          "./client",
          "./client/promise",
          "./testing"
        ])
        // There are modules of ECMAScript alone, as every Node.js that runs it loads them by require.
        const ignored = ["node10", "node16-cjs"]
        const problems = found.problems.filter(
          (problem) => !("resolutionKind" in problem && ignored.includes(problem.resolutionKind))
        )
        assert.deepStrictEqual(problems, [])
      })
    )

    it.effect(
      "gives its types to programs that resolve modules as Node.js or as bundlers do",
      () =>
        Effect.gen(function* () {
          const installed = yield* Installed
          const folder = join(installed.folder, "..", "consumer")
          const modules = join(folder, "node_modules")
          mkdirSync(join(modules, "media-gateway"), { recursive: true })
          for (const name of readdirSync(join(root, "node_modules"))) {
            if (name !== "media-gateway")
              symlinkSync(join(root, "node_modules", name), join(modules, name))
          }
          yield* Effect.promise(() =>
            promisify(execFile)("tar", [
              "-xzf",
              installed.tarball,
              "--strip-components",
              "1",
              "-C",
              join(modules, "media-gateway")
            ])
          )
          writeFileSync(join(folder, "package.json"), '{"type":"module"}')
          writeFileSync(join(folder, "consumer.ts"), consumer)
          for (const [module, resolution] of [
            ["node16", "node16"],
            ["esnext", "bundler"]
          ] as const) {
            const faults = yield* compile(folder, module, resolution)
            assert.deepStrictEqual(
              faults.filter((line) => !knownFaults.test(line)),
              []
            )
          }
        }),
      LOADED_MILLIS
    )

    const run = Effect.fnUntraced(function* (
      words: ReadonlyArray<string>,
      env: Readonly<Record<string, string>> = {}
    ) {
      const { command, folder, path } = yield* Installed
      return yield* startProcess({
        command: ["/usr/bin/env"],
        entry: command,
        args: words,
        cwd: folder,
        env: { PATH: path, ...env }
      })
    })

    /** With ports that nobody else has, as other tests may run beside this one. */
    const demo = Effect.gen(function* () {
      const process = yield* run(["demo"], { PORT: "0", GATEWAY_SIMULATOR_PORT: "0" })
      yield* process.waitForLine(/^curl .*chat\/completions/)
      const found = (pattern: RegExp) => pattern.exec(process.stdout())?.[1] ?? ""
      const url = found(/gateway {6}(http:\S+)/)
      return {
        process,
        key: found(/API key {6}(mg_\S+)/),
        curls: process.stdout().match(/^(?:ID=\$\()?curl .*$/gm) ?? [],
        /** A command at this gateway, to its end; without the token, which lies in `.data`. */
        tell: (...words: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const told = yield* run(words, { GATEWAY_URL: url })
            const { code } = yield* told.end
            assert.strictEqual(told.stderr(), "")
            return { code, said: told.stdout() }
          }).pipe(Effect.scoped)
      }
    })

    const paste = (line: string) =>
      Effect.map(
        Effect.promise(() => promisify(execFile)("bash", ["-c", line])),
        ({ stdout }) => stdout
      )
    const Ended = Schema.fromJsonString(
      Schema.Struct({ id: Schema.String, task_status: Schema.Literal("succeeded") })
    )
    const Balance = Schema.fromJsonString(
      Schema.Struct({ balance: Schema.String, held: Schema.String })
    )
    const asked = (line: string, path: string) => line.replace(/\/v1\/models /, `${path} `)

    it.effect(
      "takes a newcomer from the demo to a proved month, and keeps all of it over a kill",
      () =>
        Effect.gen(function* () {
          const { folder } = yield* Installed
          const first = yield* demo
          const [list = "", video = "", image = "", text = ""] = first.curls
          const ended = yield* Schema.decodeUnknownEffect(Ended)(yield* paste(video))
          assert.include(yield* paste(image), '"url":"http://127.0.0.1')
          assert.include(yield* paste(text), "[DONE]")
          const page = yield* paste(asked(list, "/console/"))
          assert.include(page, "<title>")

          const file = join(folder, "catalog.json")
          assert.strictEqual((yield* first.tell("catalog", "get", "--output", file)).code, 0)
          const catalog = readFileSync(file, "utf8")
          const dearer = catalog.replace('"per_image": "0.2"', '"per_image": "0.3"')
          assert.notStrictEqual(dearer, catalog)
          writeFileSync(file, dearer)
          const other = yield* first.tell("catalog", "diff", file)
          assert.deepStrictEqual(
            [other.code, other.said],
            [1, '~ models[paint-1].prices.per_image: "0.2" -> "0.3"\n']
          )
          assert.strictEqual((yield* first.tell("catalog", "apply", file)).code, 0)
          assert.strictEqual((yield* first.tell("catalog", "diff", file)).code, 0)
          const price = '"per_image":"0.3"'
          assert.include(yield* paste(asked(list, "/v1/models/paint-1")), price)

          // Killed with an order under way.
          yield* paste(video.replace(/; curl .*$/, ""))
          yield* first.process.kill("SIGKILL")
          assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

          const second = yield* demo
          assert.strictEqual(second.key, first.key)
          const [listed = ""] = second.curls
          const kept = yield* paste(asked(listed, `/v1/videos/${ended.id}`))
          assert.deepInclude(yield* Schema.decodeUnknownEffect(Ended)(kept), ended)
          assert.include(yield* paste(asked(listed, "/v1/models/paint-1")), price)
          const settled = yield* paste(asked(listed, "/v1/balance")).pipe(
            Effect.flatMap(Schema.decodeUnknownEffect(Balance)),
            Effect.delay("100 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" })
          )
          // Two videos of 108,900 tokens, an image of before the change, and some words.
          const [verified, statement, doctor] = yield* Effect.all(
            [
              second.tell("verify"),
              second.tell("statement", "show"),
              second.tell("doctor", "--json")
            ],
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual([verified.code, verified.said], [0, "The books are sound.\n"])
          assert.strictEqual(statement.code, 0)
          assert.match(statement.said, /^film-1 +2 +10\.0188$/m)
          assert.match(statement.said, /^paint-1 +1 +0\.2$/m)
          assert.include(statement.said, `closing balance      ${settled.balance}\n`)
          assert.deepStrictEqual([doctor.code, /"ok": true/.test(doctor.said)], [0, true])

          // As Ctrl-C does.
          yield* second.process.kill("SIGINT")
          assert.deepStrictEqual(yield* second.process.end, { code: 0, signal: null })
          assert.deepStrictEqual([first.process.stderr(), second.process.stderr()], ["", ""])
          assert.includeMembers(readdirSync(folder), [".data", "node_modules"])

          // What an archive needs is no part of it, and both say what to do.
          const archive = { GATEWAY_ARCHIVE_URL: "s3://bucket?region=eu-central-1" }
          const start = yield* run(["demo"], { PORT: "0", GATEWAY_SIMULATOR_PORT: "0", ...archive })
          const started = yield* start.end
          const look = yield* run(["doctor"], archive)
          const looked = yield* look.end
          const remedy = /not installed: npm install @aws-sdk\/client-s3 @aws-sdk\/lib-storage/
          assert.deepStrictEqual([started.code, looked.code], [1, 1])
          assert.match(start.stderr(), /^media-gateway cannot start: an archive needs [^\n]*\n$/)
          assert.match(start.stderr(), remedy)
          assert.match(look.stdout(), remedy)
        }).pipe(Effect.scoped),
      LOADED_MILLIS
    )
  }
)

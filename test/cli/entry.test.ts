/** What the command says of itself, and to a Node.js that is too old for it. */
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Completions } from "effect/cli"
import { commands } from "../../src/cli/commands.ts"
import { MIN_VERSION, tooOldMessage } from "../../src/nodeVersion.ts"
import { runCommand } from "../support/commandLine.ts"

const source = (path: string): string =>
  readFileSync(new URL(`../../src/${path}`, import.meta.url), "utf8")

it.each([
  ["24.9.0", true],
  ["24.10.0", true],
  ["25.0.0", true],
  ["100.0.0", true],
  ["24.8.9", false],
  ["22.30.0", false],
  ["8.17.0", false]
] as const)("Node.js %s fits: %s", (version, fits) => {
  assert.strictEqual(tooOldMessage(version) === null, fits)
})

it("needs the Node.js that the package says", () => {
  const manifest = JSON.parse(source("../package.json"))
  assert.strictEqual(manifest.engines.node, `>=${MIN_VERSION.join(".")}`)
})

const OLD = "/usr/bin/node"
const oldMajor = existsSync(OLD)
  ? Number(execFileSync(OLD, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }))
  : Number.POSITIVE_INFINITY

it.skipIf(oldMajor >= (MIN_VERSION[0] ?? 0))(
  "every entry says in one line which Node.js it needs, and ends with 1",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "entries-"))
    try {
      writeFileSync(join(folder, "package.json"), '{"type":"module"}')
      for (const [path, name] of [
        ["nodeVersion.ts", "nodeVersion"],
        ["main.ts", "main"],
        ["cli/rotateMasterKey.ts", "rotate"],
        ["simulator/simulatorMain.ts", "simulator"]
      ] as const) {
        const script = stripTypeScriptTypes(source(path)).replace(
          /"\.{1,2}\/nodeVersion\.ts"/,
          '"./nodeVersion.js"'
        )
        writeFileSync(join(folder, `${name}.js`), script)
      }
      for (const entry of ["main", "rotate", "simulator"]) {
        const { status, stdout, stderr } = spawnSync(OLD, [join(folder, `${entry}.js`), "--help"], {
          encoding: "utf8",
          env: {}
        })
        assert.deepStrictEqual([status, stdout], [1, ""])
        assert.match(stderr, /^media-gateway needs Node\.js 24\.9\.0 or newer, and this is \d.*\n$/)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
)

const asked = [
  "serve",
  "demo",
  "migrate",
  "simulator",
  "catalog",
  "org",
  "member",
  "key",
  "deposit",
  "adjust",
  "channel",
  "task",
  "orphan",
  "usage",
  "statement",
  "verify",
  "rotate-master-key",
  "doctor"
]

it("every command and every flag says what it is for", () => {
  const silent = (one: Completions.CommandDescriptor, path: string): ReadonlyArray<string> => [
    ...(one.description === undefined || one.description === "" ? [path] : []),
    ...[...one.flags, ...one.arguments].flatMap(({ name, description }) =>
      description === undefined || description === "" ? [`${path} ${name}`] : []
    ),
    ...one.subcommands.flatMap((inner) => silent(inner, `${path} ${inner.name}`))
  ]
  const tree = Completions.fromCommand(commands)
  assert.includeMembers(
    tree.subcommands.map(({ name }) => name),
    asked
  )
  assert.deepStrictEqual(silent(tree, "media-gateway"), [])
})

it.live("lists its commands, completes them, and ends with 2 where it is called wrongly", () =>
  Effect.gen(function* () {
    const help = yield* runCommand(["--help"])
    assert.strictEqual(help.code, 0)
    for (const name of asked) assert.match(help.stdout, new RegExp(`^ {2}${name} {2,}\\S`, "m"))
    const { stdout } = yield* runCommand(["--completions", "bash"])
    assert.include(stdout, "rotate-master-key")
    const parsed = promisify(execFile)("bash", ["-n", "-c", stdout])
    yield* Effect.promise(() => parsed)
    const alone = yield* runCommand(["catalog"])
    assert.deepStrictEqual([alone.code, alone.stdout], [2, ""])
    assert.include(alone.stderr, "apply")
  })
)

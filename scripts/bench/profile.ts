/**
 * Prints where a profiled process spent its CPU time: the functions with the most self time, and
 * the self time by package.
 *
 *   npm run bench:profile -- DIR
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { Schema } from "effect"

const TOLD = 40
/**
 * A gap of this length between two samples means that the process was stopped between its windows.
 */
const STOPPED_MICROS = 50_000

const Profile = Schema.fromJsonString(
  Schema.Struct({
    nodes: Schema.Array(
      Schema.Struct({
        id: Schema.Int,
        callFrame: Schema.Struct({
          functionName: Schema.String,
          url: Schema.String,
          lineNumber: Schema.Int
        })
      })
    ),
    samples: Schema.Array(Schema.Int),
    timeDeltas: Schema.Array(Schema.Int)
  })
)

/** The path itself if it is a file, otherwise the newest profile in that directory. */
const profileAt = (path: string): string => {
  if (!statSync(path).isDirectory()) return path
  const [newest] = readdirSync(path)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => join(path, name))
    .toSorted((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs)
  if (newest === undefined) throw new Error(`no profile in ${path}`)
  return newest
}

const root = join(import.meta.dirname, "../..")

/** The path of a file relative to the repository. */
const fileOf = (url: string): string =>
  url.startsWith("file://") ? relative(root, new URL(url).pathname) : url

/** The npm package, the folder of this repository, or the built-in part of Node. */
const packageOf = (url: string, name: string): string => {
  const file = fileOf(url)
  if (file === "") return name.startsWith("(") ? name : "(native)"
  const [, npm] = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file) ?? []
  if (npm !== undefined) return npm
  return file.startsWith("node:")
    ? (file.split("/")[0] ?? file)
    : file.split("/").slice(0, 2).join("/")
}

const profile = Schema.decodeUnknownSync(Profile)(
  readFileSync(profileAt(process.argv[2] ?? "."), "utf8")
)
const micros = new Map<number, number>()
for (const [index, id] of profile.samples.entries()) {
  const delta = profile.timeDeltas[index] ?? 0
  if (delta < STOPPED_MICROS) micros.set(id, (micros.get(id) ?? 0) + delta)
}

const byFunction = new Map<string, number>()
const byPackage = new Map<string, number>()
let busy = 0
for (const { id, callFrame } of profile.nodes) {
  const { functionName, url, lineNumber } = callFrame
  const own = micros.get(id) ?? 0
  if (functionName === "(idle)" || functionName === "(root)") continue
  busy += own
  const where = url === "" ? "" : ` ${fileOf(url)}:${lineNumber + 1}`
  const frame = `${functionName === "" ? "(anonymous)" : functionName}${where}`
  byFunction.set(frame, (byFunction.get(frame) ?? 0) + own)
  const owner = packageOf(url, functionName)
  byPackage.set(owner, (byPackage.get(owner) ?? 0) + own)
}

const print = (title: string, shares: ReadonlyMap<string, number>): void => {
  console.log(`\n${title}`)
  const largest = [...shares].toSorted(([, left], [, right]) => right - left).slice(0, TOLD)
  for (const [name, own] of largest) {
    console.log(`${((own / busy) * 100).toFixed(2).padStart(6)} %  ${name}`)
  }
}

console.log(`${(busy / 1e6).toFixed(1)} s of processor time, idle time left out`)
print("by package", byPackage)
print("by function", byFunction)

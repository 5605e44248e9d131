/** An installation of the package as npm would make it, without asking a registry. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Context, Effect, Layer, Schema } from "effect"
import { startGuard } from "./guard.ts"

const root = join(import.meta.dirname, "..", "..")

const Lock = Schema.fromJsonString(
  Schema.Struct({
    packages: Schema.Record(
      Schema.String,
      Schema.Struct({
        dev: Schema.optionalKey(Schema.Boolean),
        devOptional: Schema.optionalKey(Schema.Boolean),
        os: Schema.optionalKey(Schema.Array(Schema.String)),
        cpu: Schema.optionalKey(Schema.Array(Schema.String))
      })
    )
  })
)

const Manifest = Schema.fromJsonString(
  Schema.Struct({ bin: Schema.Struct({ "media-gateway": Schema.String }) })
)

const EXECUTABLE = 0o755

/** By their paths, the packages that come along with this one. */
export const installedWithIt = () =>
  Object.entries(
    Schema.decodeUnknownSync(Lock)(readFileSync(join(root, "package-lock.json"), "utf8")).packages
  ).filter(([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true)

const link = (from: string, to: string): void => {
  if (lstatSync(from).isDirectory()) {
    mkdirSync(to, { recursive: true })
    // What lies inside is named by the lockfile, if it belongs here.
    const names = readdirSync(from).filter((name) => name !== "node_modules")
    for (const name of names) link(join(from, name), join(to, name))
    return
  }
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

const linkPackage = (path: string, folder: string): void => {
  mkdirSync(join(folder, path, ".."), { recursive: true })
  link(join(root, path), join(folder, path))
}

export interface Installation {
  /** Has nothing in it but `node_modules`. */
  readonly folder: string
  /** The command, as `npx media-gateway` finds it. */
  readonly command: string
  /** The installed package. */
  readonly package: string
  readonly tarball: string
  /** What to have as PATH: a folder with this Node.js and nothing else. */
  readonly path: string
}

const npm = (folder: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("npm", [...args, "--offline", "--ignore-scripts", "--loglevel=error"], {
    cwd: folder,
    encoding: "utf8"
  })

/** Packs what is built into `folder` beside the manifest, as `npm pack` packs the repository. */
const pack = (folder: string): string => {
  mkdirSync(folder)
  for (const name of ["package.json", "README.md", "LICENSE"]) {
    copyFileSync(join(root, name), join(folder, name))
  }
  execFileSync(
    process.execPath,
    [join(root, "scripts", "build.ts"), "--out", join(folder, "dist")],
    // The runner's own settings would make another console of it.
    { stdio: "pipe", env: { PATH: process.env.PATH, HOME: process.env.HOME } }
  )
  return join(folder, npm(folder, "pack").trim())
}

const install = (base: string): Installation => {
  const tarball = pack(join(base, "packed"))
  const folder = join(base, "empty")
  const modules = join(folder, "node_modules")
  const installed = join(modules, "media-gateway")
  mkdirSync(installed, { recursive: true })
  for (const [path] of installedWithIt()) linkPackage(path, folder)
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components", "1"])
  const manifest = readFileSync(join(installed, "package.json"), "utf8")
  const entry = Schema.decodeUnknownSync(Manifest)(manifest).bin["media-gateway"]
  chmodSync(join(installed, entry), EXECUTABLE)
  const command = join(modules, ".bin", "media-gateway")
  mkdirSync(dirname(command))
  symlinkSync(join("..", "media-gateway", entry), command)
  const path = join(base, "path")
  mkdirSync(path)
  symlinkSync(process.execPath, join(path, "node"))
  return { folder, command, package: installed, tarball, path }
}

/** Made in a temporary folder, which goes with the scope and with the test runner. */
const installedPackage = Effect.acquireRelease(
  Effect.sync(() => {
    const base = mkdtempSync(join(tmpdir(), "media-gateway-package-"))
    const guard = startGuard({ signal: "KILL", directories: [base] })
    return { base, guard }
  }),
  ({ base, guard }) =>
    Effect.sync(() => {
      rmSync(base, { recursive: true, force: true })
      guard.dismiss()
    })
).pipe(Effect.map(({ base }) => install(base)))

/** The installation of a test file. */
export class Installed extends Context.Service<Installed, Installation>()("test/Installed") {}

export const layerInstalled = Layer.effect(Installed, installedPackage)

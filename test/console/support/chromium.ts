/** A browser that comes as a package, unpacked once for all runs. */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Schema } from "effect"

const root = join(import.meta.dirname, "..", "..", "..")
const CACHE = join(root, "node_modules", ".cache")
const Package = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

interface Chromium {
  readonly executable: string
  /** Libraries that a machine without a browser may lack. */
  readonly libraries: string
  /** Where it finds fonts: those of the machine, where it has some, and those of the package. */
  readonly fonts: string
}

/** Null, with the reason, where the package has no browser for this machine. */
export type UnpackedChromium = Chromium | { readonly reason: string }

const at = (directory: string): Chromium => ({
  executable: join(directory, "chromium"),
  libraries: join(directory, "al2023", "lib"),
  fonts: join(directory, "fonts", "both.conf")
})

const fontsIn = (directory: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(directory, "fonts", "fonts")}</dir>
  <cachedir>${join(directory, "fonts-cache")}</cachedir>
</fontconfig>
`

export const unpackChromium = async (): Promise<UnpackedChromium> => {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return {
      reason: `the browser of @sparticuz/chromium is for Linux on x64, and this is ${process.platform} on ${process.arch}`
    }
  }
  const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium")
  const home = dirname(dirname(entry))
  const { version } = Schema.decodeUnknownSync(Package)(
    await readFile(join(home, "package.json"), "utf8")
  )
  const place = join(CACHE, `chromium-${version}`)
  if (existsSync(place)) return at(place)
  await mkdir(CACHE, { recursive: true })
  const fresh = await mkdtemp(join(CACHE, "unpacking-"))
  const before = process.env.TMPDIR
  // Its package unpacks into the directory of temporary files.
  process.env.TMPDIR = fresh
  try {
    const { inflate } = await import("@sparticuz/chromium")
    for (const file of ["chromium.br", "al2023.tar.br", "fonts.tar.br"]) {
      await inflate(join(home, "bin", file))
    }
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  await writeFile(at(fresh).fonts, fontsIn(place))
  // Another run may have been quicker.
  await rename(fresh, place).catch(() => rm(fresh, { recursive: true, force: true }))
  return at(place)
}

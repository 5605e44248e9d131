/** The console's files, as they were built, below `/console/`; nothing else can be read through them. */
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotFound } from "../../domain/Errors.ts"
import { errorResponse } from "./errorResponse.ts"
import { pathOf } from "./routes.ts"

/** Beside the sources and beside what is built of them alike. */
const FOLDER = join(import.meta.dirname, "..", "..", "..", "dist", "console")
const BASE = "/console/"
const PAGE = "index.html"
/** What the built page has in the place of a nonce. */
const NONCE = "CONSOLE_NONCE"
const NONCE_BYTES = 16

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/**
 * Scripts come from here alone, and so does what they load. Pictures and films are shown from bytes
 * that a script has read. Styles that libraries make need the answer's nonce.
 */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' blob:",
    "media-src blob:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

interface BuiltFile {
  readonly type: string
  readonly plain: Uint8Array
  /** By brotli; null where that is no smaller. */
  readonly packed: Uint8Array | null
}

/** By their paths below the folder; empty where the console was not built. */
const readBuilt = async (): Promise<ReadonlyMap<string, BuiltFile>> => {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true }).catch(() => [])
  const known = entries.filter((entry) => entry.isFile() && extname(entry.name) in types)
  const files = known.map(async (entry): Promise<[string, BuiltFile]> => {
    const path = join(entry.parentPath, entry.name)
    const packed = await readFile(`${path}.br`).catch(() => null)
    const type = types[extname(entry.name)] ?? ""
    const name = relative(FOLDER, path).split(sep).join("/")
    return [name, { type, plain: await readFile(path), packed }]
  })
  return new Map(await Promise.all(files))
}

const takesBrotli = (accepted: string | undefined): boolean =>
  (accepted ?? "")
    .split(",")
    .some((coding) => /^\s*br\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(coding))

const fileAnswer = (file: BuiltFile, accepted: string | undefined) => {
  const packed = takesBrotli(accepted) ? file.packed : null
  return HttpServerResponse.uint8Array(packed ?? file.plain, {
    contentType: file.type,
    headers: {
      // Their names change with what is in them.
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(packed === null ? {} : { "content-encoding": "br" })
    }
  })
}

const pageAnswer = ({ plain }: BuiltFile, nonce: string) =>
  HttpServerResponse.text(new TextDecoder().decode(plain).replaceAll(NONCE, nonce), {
    contentType: types[".html"],
    headers: {
      "cache-control": "no-store",
      "content-security-policy": policyOf(nonce),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer"
    }
  })

const toConsole = HttpServerResponse.redirect(BASE, { status: 302 })

const notThere = (message: string) => errorResponse(new NotFound({ message }))

const NOT_BUILT = "The console is not built here: `npm run console` builds it"
const MAX_QUOTED = 200

export const layerConsolePages = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const random = yield* SecureRandom.SecureRandom
    // The socket listens already: what is read here now would keep its first requests waiting.
    const built = yield* Effect.cached(Effect.promise(readBuilt))

    const serve = Effect.gen(function* () {
      const { url, headers } = yield* HttpServerRequest.HttpServerRequest
      const asked = pathOf(url)
      if (!asked.startsWith(BASE)) return toConsole
      const files = yield* built
      const page = files.get(PAGE)
      if (page === undefined) return notThere(NOT_BUILT)
      const path = asked.slice(BASE.length)
      const file = path === PAGE ? undefined : files.get(path)
      if (file !== undefined) return fileAnswer(file, headers["accept-encoding"])
      // An address of the console's own, such as that of an order, is the same page.
      return path === PAGE || extname(path) === ""
        ? pageAnswer(page, Base64.encode(yield* random.randomBytes(NONCE_BYTES)))
        : notThere(`The console has no file ${path.slice(0, MAX_QUOTED)}`)
    })
    yield* router.add("GET", "/", toConsole)
    yield* router.add("GET", "/console/*", serve)
  })
)

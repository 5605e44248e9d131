/**
 * Serves the console's built files below `/console/`. They are served from memory, so that no other
 * file can be read.
 */
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotFound } from "../../domain/Errors.ts"
import { errorResponse } from "./errorResponse.ts"
import { pathOf } from "./routes.ts"

/** The folder of the built console. Its relative path is the same from `src` and from `dist`. */
const FOLDER = join(import.meta.dirname, "..", "..", "..", "dist", "console")
const BASE = "/console/"
const PAGE = "index.html"
/** The placeholder of the nonce in the built page. */
const NONCE = "CONSOLE_NONCE"
const NONCE_BYTES = 16

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/**
 * The content security policy of the console. Scripts and connections are limited to this origin.
 * Images and videos are shown as blobs that a script has loaded, and the API reference in a frame. Styles that libraries insert need
 * the answer's nonce.
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
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

interface BuiltFile {
  readonly type: string
  readonly plain: Uint8Array
  /** The file compressed with brotli; null when that is not smaller. */
  readonly brotli: Uint8Array | null
}

/** The built files by their paths below the folder; empty where the console was not built. */
const readBuilt = async (): Promise<ReadonlyMap<string, BuiltFile>> => {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true }).catch(() => [])
  const servable = entries.filter((entry) => entry.isFile() && extname(entry.name) in contentTypes)
  const files = servable.map(async (entry): Promise<[string, BuiltFile]> => {
    const path = join(entry.parentPath, entry.name)
    const brotli = await readFile(`${path}.br`).catch(() => null)
    const type = contentTypes[extname(entry.name)] ?? ""
    const name = relative(FOLDER, path).split(sep).join("/")
    return [name, { type, plain: await readFile(path), brotli }]
  })
  return new Map(await Promise.all(files))
}

const takesBrotli = (acceptEncoding: string | undefined): boolean =>
  (acceptEncoding ?? "")
    .split(",")
    .some((coding) => /^\s*br\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(coding))

const fileAnswer = (file: BuiltFile, acceptEncoding: string | undefined) => {
  const brotli = takesBrotli(acceptEncoding) ? file.brotli : null
  return HttpServerResponse.uint8Array(brotli ?? file.plain, {
    contentType: file.type,
    headers: {
      // File names contain a hash of the content.
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(brotli === null ? {} : { "content-encoding": "br" })
    }
  })
}

const pageAnswer = ({ plain }: BuiltFile, nonce: string) =>
  HttpServerResponse.text(new TextDecoder().decode(plain).replaceAll(NONCE, nonce), {
    contentType: contentTypes[".html"],
    headers: {
      "cache-control": "no-store",
      "content-security-policy": policyOf(nonce),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer"
    }
  })

const redirectToConsole = HttpServerResponse.redirect(BASE, { status: 302 })

const notFound = (message: string) => errorResponse(new NotFound({ message }))

const NOT_BUILT = "The console is not built here: `npm run console` builds it"
const MAX_QUOTED = 200

export const layerConsolePages = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const random = yield* SecureRandom.SecureRandom
    // The files are read at the first request for the console. The socket already listens at
    // startup, so reading them there would delay the first requests.
    const builtFiles = yield* Effect.cached(Effect.promise(readBuilt))

    const serve = Effect.gen(function* () {
      const { url, headers } = yield* HttpServerRequest.HttpServerRequest
      const requestPath = pathOf(url)
      if (!requestPath.startsWith(BASE)) return redirectToConsole
      const files = yield* builtFiles
      const page = files.get(PAGE)
      if (page === undefined) return notFound(NOT_BUILT)
      const path = requestPath.slice(BASE.length)
      const file = path === PAGE ? undefined : files.get(path)
      if (file !== undefined) return fileAnswer(file, headers["accept-encoding"])
      // The client-side router handles all other paths of the console, such as the page of an
      // order.
      return path === PAGE || extname(path) === ""
        ? pageAnswer(page, Base64.encode(yield* random.randomBytes(NONCE_BYTES)))
        : notFound(`The console has no file ${path.slice(0, MAX_QUOTED)}`)
    })
    yield* router.add("GET", "/", redirectToConsole)
    yield* router.add("GET", "/console/*", serve)
  })
)

import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import { Accounts } from "./Accounts.ts"
import { Book, type BookEntry, type BookUnreadable } from "./Book.ts"
import { layerControls } from "./controls.ts"
import { layerMedia, MediaLinks } from "./Media.ts"
import type { ClipUnusable } from "./media/clip.ts"
import { Requests, type SeenRequest } from "./Requests.ts"
import { Tasks } from "./Tasks.ts"
import { layerVendors } from "./Vendor.ts"
import { dashscope } from "./vendors/dashscopeVendor.ts"
import { elevenlabs } from "./vendors/elevenlabsVendor.ts"
import { fal } from "./vendors/falVendor.ts"
import { gemini } from "./vendors/geminiVendor.ts"
import { ip_a } from "./vendors/ip_aVendor.ts"
import { ip_b } from "./vendors/ip_bVendor.ts"
import { ip_c } from "./vendors/ip_cVendor.ts"
import { jina } from "./vendors/jinaVendor.ts"
import { minimax } from "./vendors/minimaxVendor.ts"
import { openai, openai_responses } from "./vendors/openaiVendor.ts"
import { replicate } from "./vendors/replicateVendor.ts"
import { veo } from "./vendors/veoVendor.ts"
import { vp_a } from "./vendors/vp_aVendor.ts"
import { vp_b } from "./vendors/vp_bVendor.ts"
import { vp_c } from "./vendors/vp_cVendor.ts"
import { vp_d } from "./vendors/vp_dVendor.ts"
import { vp_e } from "./vendors/vp_eVendor.ts"
import { vp_f } from "./vendors/vp_fVendor.ts"

export type { BookEntry } from "./Book.ts"
export type { SeenRequest } from "./Requests.ts"

export interface SimulatorOptions {
  /** The port; 0 takes a free one. */
  readonly port: number
  /** The address to listen at; 127.0.0.1 by default. */
  readonly host?: string
  /**
   * The JSONL file of the book: it is read at the start, and new entries are appended. Without a
   * file, the book is in memory only.
   */
  readonly bookPath?: string
  /**
   * The base URL of result addresses, for clients that reach the simulator at another address than
   * the one it listens on.
   */
  readonly publicUrl?: string
}

/** The vendors of all protocols behind one port; a channel's base address is `<url>/<protocol>`. */
export class Simulator extends Context.Service<
  Simulator,
  {
    /** The URL of the simulator, with the actual port and without a slash at the end. */
    readonly url: string
    /**
     * All entries of the book, oldest first, including those of earlier runs with the same file.
     */
    readonly book: Effect.Effect<ReadonlyArray<BookEntry>>
    /** The last 1000 requests to the vendors, oldest first. */
    readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
    readonly clearRequests: Effect.Effect<void>
    /** Lets all accepted tasks with `sim:waits` go on. */
    readonly releaseTasks: Effect.Effect<void>
  }
>()("gateway/simulator/Simulator") {}

const vendors = layerVendors([
  vp_a,
  vp_b,
  vp_c,
  vp_d,
  vp_e,
  vp_f,
  veo,
  minimax,
  ip_a,
  ip_b,
  ip_c,
  gemini,
  openai,
  openai_responses,
  jina,
  dashscope,
  elevenlabs,
  fal,
  replicate
])

/** The routes of all vendors, their files and the controls, which need the services of the bench. */
export const simulatorRoutes = Layer.mergeAll(vendors, layerMedia, layerControls)

/**
 * What the routes share, and the simulator's own service. `url` is where the routes are served;
 * without `bookPath` the book is in memory only.
 */
export const layerBench = (url: string, { bookPath, publicUrl = url }: Partial<SimulatorOptions>) =>
  Layer.effect(
    Simulator,
    Effect.gen(function* () {
      const { entries } = yield* Book
      const requests = yield* Requests
      const tasks = yield* Tasks
      return Simulator.of({
        url,
        book: entries,
        requests: requests.all,
        clearRequests: requests.clear,
        releaseTasks: tasks.release
      })
    })
  ).pipe(
    Layer.provideMerge([Tasks.layer, MediaLinks.layer(publicUrl.replace(/\/+$/, ""))]),
    Layer.provideMerge([Book.layer(bookPath), Requests.layer, Accounts.layer])
  )

/**
 * Serves until its scope closes, and then interrupts open requests. Fails when the port is taken,
 * the book file cannot be parsed, or the video asset cannot be used.
 */
export const layerSimulator = (
  options: SimulatorOptions
): Layer.Layer<Simulator, HttpServerError.ServeError | BookUnreadable | ClipUnusable> =>
  HttpRouter.serve(simulatorRoutes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(
      Layer.unwrap(Effect.map(listenUrl(options), (url) => layerBench(url, options)))
    ),
    Layer.provide(
      NodeHttpServer.layer(createServer, {
        port: options.port,
        host: options.host ?? "127.0.0.1",
        // A graceful shutdown would wait for orders that hang on purpose.
        disablePreemptiveShutdown: true
      })
    )
  )

const anyAddress = new Set(["0.0.0.0", "::"])

const listenUrl = Effect.fnUntraced(function* (options: SimulatorOptions) {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : options.port
  const host = options.host ?? "127.0.0.1"
  const reachable = anyAddress.has(host) ? "127.0.0.1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
})

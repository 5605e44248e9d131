/**
 * Reads the length of inline videos in a process of its own. A file of a hundred bytes can claim
 * four thousand million frames, and a thread that counts them takes the whole process with it when
 * the memory ends, whatever its limit.
 */
import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Effect, Layer, Option, Predicate, Schema, Semaphore } from "effect"
import type { VideoBlock } from "../domain/VideoRequest.ts"
import { InputVideo } from "../services/InputVideo.ts"

const MAX_READERS = 2
const TIME_LIMIT = "3 seconds"
const MEMORY_MEBIBYTES = 256

const Lengths = Schema.fromJsonString(Schema.Array(Schema.NullOr(Schema.Finite)))
const decodeLengths = Schema.decodeUnknownOption(Lengths)

// Sources run as TypeScript, the published package as JavaScript; the reader lies beside this file.
const readerFile = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./reader.ts" : "./reader.js", import.meta.url)
)

const inlineVideo = /^data:[^,]*;base64,/i

/** The base64 texts of the videos that came inline. */
const inlineVideos = (blocks: ReadonlyArray<VideoBlock>): ReadonlyArray<string> =>
  blocks.flatMap((block) => {
    if (block.type !== "video") return []
    const head = inlineVideo.exec(block.url)
    return head === null ? [] : [block.url.slice(head[0].length)]
  })

/** What the reader wrote; an empty text when it died of what it read. Interruption kills it. */
const read = (videos: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    // Nothing of our environment, which may hold secrets, is handed on.
    const reader = spawn(
      process.execPath,
      [`--max-old-space-size=${MEMORY_MEBIBYTES}`, readerFile],
      { env: {}, stdio: ["pipe", "pipe", "ignore"] }
    )
    const nothing = () => resume(Effect.succeed(""))
    reader.once("error", nothing)
    // A reader that died early leaves the rest of its input unread.
    reader.stdin.on("error", () => undefined)
    reader.stdin.end(videos.join("\n"))
    text(reader.stdout).then((written) => resume(Effect.succeed(written)), nothing)
    return Effect.sync(() => reader.kill("SIGKILL"))
  })

export const layerInputVideo = Layer.effect(
  InputVideo,
  Effect.gen(function* () {
    const readers = yield* Semaphore.make(MAX_READERS)

    const knownSeconds: InputVideo["Service"]["knownSeconds"] = Effect.fn(
      "InputVideo.knownSeconds"
    )(function* (blocks) {
      const videos = inlineVideos(blocks)
      if (videos.length === 0) return null
      const written = yield* Effect.timeoutOption(readers.withPermits(1)(read(videos)), TIME_LIMIT)
      const lengths = Option.flatMap(written, decodeLengths)
      const known = Option.toArray(lengths).flat().filter(Predicate.isNotNull)
      return known.length === 0 ? null : known.reduce((sum, seconds) => sum + seconds, 0)
    })

    return InputVideo.of({ knownSeconds })
  })
)

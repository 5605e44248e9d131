/** Checks of the port that the gateway would listen on, and of the archive's bucket. */
import { randomUUID } from "node:crypto"
import { createServer } from "node:net"
import { Cause, Effect, Stream } from "effect"
import { layerArchiveBucket } from "../../features/archive/archiveClient.ts"
import { deepestReason } from "../../runtime/deepestReason.ts"
import { codeOf, listenProblem } from "../../runtime/listenFailures.ts"
import { Bucket, BucketFault } from "../../services/results/ArchiveBucket.ts"
import { type Check, errorFinding, okFinding } from "./findings.ts"

const listenOn = (host: string, port: number) =>
  Effect.callback<Error | null>((resume) => {
    const server = createServer()
    server.once("error", (error) => resume(Effect.succeed(error)))
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resume(Effect.succeed(null)))
    )
  })

/** Whether the program that listens on the port is a gateway. */
const isGateway = (host: string, port: number) =>
  Effect.promise((signal) =>
    fetch(`http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}/healthz`, {
      signal,
      headers: { connection: "close" }
    }).then(
      (response) => response.text().then((text) => text.includes('"status":"ok"')),
      () => false
    )
  ).pipe(Effect.timeoutOrElse({ duration: "3 seconds", orElse: () => Effect.succeed(false) }))

export const portCheck: Check = {
  name: "Port",
  run: Effect.fnUntraced(function* ({ config }) {
    if (config === null || config.port === 0 || config.reusePort) return []
    const { host, port } = config
    const refusal = yield* listenOn(host, port)
    if (refusal === null) return [okFinding(`Port ${port} of ${host} is free.`)]
    if (codeOf(refusal) === "EADDRINUSE" && (yield* isGateway(host, port))) {
      return [okFinding(`A gateway listens on port ${port} of ${host}.`)]
    }
    return [
      errorFinding(`${listenProblem(refusal, { host, port })}.`, "Set PORT or HOST to another one.")
    ]
  })
}

const PROBE = "media-gateway doctor"

const probe = Effect.gen(function* () {
  const bucket = yield* Bucket
  if (bucket === null) return
  const key = `doctor-${randomUUID()}`
  yield* bucket.put(key, "text/plain", Stream.make(new TextEncoder().encode(PROBE)))
  const text = yield* Effect.scoped(
    Effect.flatMap(bucket.get(key, null), (bytes) => Stream.mkString(Stream.decodeText(bytes)))
  ).pipe(Effect.ensuring(Effect.ignore(bucket.removeAll(key))))
  if (text !== PROBE) return yield* new BucketFault({ message: "another text came back" })
})

export const archiveCheck: Check = {
  name: "Archive",
  run: ({ config }) => {
    const archiveConfig = config?.archive ?? null
    if (archiveConfig === null) return Effect.succeed([])
    return probe.pipe(
      Effect.provide(layerArchiveBucket(archiveConfig)),
      Effect.timeout("20 seconds"),
      Effect.as([
        okFinding(
          `The bucket ${archiveConfig.bucket} takes files, gives them back and removes them.`
        )
      ]),
      Effect.catchTag("ArchiveUnavailable", ({ message }) =>
        Effect.succeed([
          errorFinding(`The archive cannot be used: ${message}`, "See GATEWAY_ARCHIVE_URL.")
        ])
      ),
      Effect.catchCause((cause) =>
        Effect.succeed([
          errorFinding(
            `The bucket ${archiveConfig.bucket} cannot be used: ${deepestReason(Cause.squash(cause))}.`,
            "Check GATEWAY_ARCHIVE_URL, the credentials in the variables of AWS, and their rights."
          )
        ])
      )
    )
  }
}

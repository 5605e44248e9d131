/** A server of the S3 protocol on this machine, with a bucket of its own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { startDemoArchive } from "../../src/features/archive/demoArchive.ts"

/** The variables of a process that stores in the bucket. */
export const archiveEnvironmentOf = (place: {
  readonly bucket: string
  readonly endpoint: string
}) => ({
  GATEWAY_ARCHIVE_URL: `s3://${place.bucket}/a?endpoint=${place.endpoint}`,
  AWS_ACCESS_KEY_ID: "S3RVER",
  AWS_SECRET_ACCESS_KEY: "S3RVER"
})

/** Serves until the scope closes; answers the place of its bucket. */
export const s3Server = Effect.flatMap(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "media-gateway-s3-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  ),
  startDemoArchive
).pipe(
  Effect.map((place) => ({ ...place, prefix: "a/" })),
  Effect.orDie
)

/** The variables of a process that stores in a bucket of its own. */
export const archiveEnvironment = Effect.map(s3Server, archiveEnvironmentOf)
